// Tells when an element comes near the view, so that far cards cost nothing. One observer for the page.
import type {Attachment} from 'svelte/attachments';

const callbacks = new WeakMap<Element, (near: boolean) => void>();
let observer: IntersectionObserver | undefined;

/** `{@attach nearView((near) => …)}`: true when within 300 px of the view, false when it leaves. */
export function nearView(callback: (near: boolean) => void): Attachment<Element> {
  return element => {
    observer ??= new IntersectionObserver(
      entries => {
        for (const entry of entries) callbacks.get(entry.target)?.(entry.isIntersecting);
      },
      {rootMargin: '300px'},
    );
    callbacks.set(element, callback);
    observer.observe(element);
    return () => {
      callbacks.delete(element);
      observer?.unobserve(element);
    };
  };
}
