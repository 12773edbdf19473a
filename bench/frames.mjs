// Frame times of a page while something is done to it, and the figures that are told of them.

export const median = list => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)];

export const quantile = (list, q) =>
  [...list].sort((a, b) => a - b)[Math.min(list.length - 1, Math.floor(q * list.length))];

export const pause = time => new Promise(resolve => setTimeout(resolve, time));

/** Frame times while `work` runs. */
export async function frames(page, work) {
  await page.evaluate(() => {
    window.__frames = [];
    window.__on = true;
    let last = performance.now();
    const tick = now => {
      window.__frames.push(now - last);
      last = now;
      if (window.__on) requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
  });
  await work();
  const list = await page.evaluate(() => {
    window.__on = false;
    return window.__frames.slice(2);
  });
  return {
    n: list.length,
    p50: median(list),
    p95: quantile(list, 0.95),
    max: Math.max(...list),
  };
}
