// Copying works in frames and on plain http too, where the clipboard API is missing.
export async function copyText(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = document.createElement('textarea');
    area.value = text;
    area.className = 'vh';
    document.body.append(area);
    area.select();
    document.execCommand('copy');
    area.remove();
  }
}

/** Hands a file to the user. */
export function saveFile(name: string, content: Blob): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** A name any file system takes. */
export function safeName(text: string): string {
  return text.replace(/[^\p{L}\p{N}._=+-]+/gu, '_').slice(0, 120) || 'sonde';
}
