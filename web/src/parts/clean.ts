// Rendered text made fit for the page: links open in a new tab, and pictures from elsewhere become links,
// because the page asks nothing from other machines. Parsed apart from the document: nothing loads.

export function cleanHtml(html: string): string {
  const {body} = new DOMParser().parseFromString(html, 'text/html');
  for (const link of body.querySelectorAll('a[href]')) {
    link.setAttribute('target', '_blank');
    link.setAttribute('rel', 'noopener noreferrer');
  }
  for (const image of body.querySelectorAll('img')) {
    const source = image.getAttribute('src') ?? '';
    if (source.startsWith('data:image/')) {
      if (!image.hasAttribute('alt')) image.setAttribute('alt', '');
      continue;
    }
    const text = image.getAttribute('alt') || source;
    if (!/^https?:/i.test(source)) {
      image.replaceWith(text);
      continue;
    }
    const link = document.createElement('a');
    link.setAttribute('href', source);
    link.setAttribute('target', '_blank');
    link.setAttribute('rel', 'noopener noreferrer');
    link.textContent = text;
    image.replaceWith(link);
  }
  return body.innerHTML;
}
