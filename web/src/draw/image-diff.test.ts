import {describe, expect, it} from 'vitest';
import {
  adjust,
  difference,
  differenceBins,
  differenceLimit,
  paintDifference,
  pixelAt,
  UNCHANGED,
} from './image-diff.ts';

const picture = (width: number, rgb: number[][]) => ({
  width,
  height: rgb.length / width,
  data: new Uint8ClampedArray(rgb.flatMap(([r, g, b]) => [r!, g!, b!, 255])),
});
const black = [0, 0, 0];
const white = [255, 255, 255];

describe('difference', () => {
  it('of equal pictures is nothing', () => {
    const a = picture(2, [black, white, white, black]);
    const d = difference(a, a);
    expect([d.meanAbs, d.largest, d.psnrDb, d.correlation]).toEqual([0, 0, Infinity, 1]);
    expect(differenceLimit(d)).toBe(0.1);
  });
  it('knows size, sign and place', () => {
    const d = difference(picture(2, [black, black, black, [51, 51, 51]]), picture(2, [black, black, white, [0, 0, 0]]));
    expect(d.largest).toBeCloseTo(-1, 6);
    expect(d.at).toEqual([0, 1]);
    expect(d.meanAbs).toBeCloseTo(1.2 / 4, 6);
    expect(d.psnrDb).toBeCloseTo(10 * Math.log10(4 / 1.04), 6);
    expect([...differenceBins(d, 1, 4)]).toEqual([1, 0, 3, 0]);
  });
  it('sees colours of the same brightness', () => {
    const d = difference(picture(1, [[0, 255, 0]]), picture(1, [[255, 0, 0]]));
    expect(d.meanAbs).toBeCloseTo(2 / 3, 6);
    expect(d.largest).toBeCloseTo(2 / 3, 6);
    expect(d.psnrDb).toBeCloseTo(10 * Math.log10(1.5), 6);
    expect([...paintDifference(d, 1, 'magnitude', false).slice(0, 3)]).not.toEqual([0x08, 0x08, 0x11]);
  });
  it('sees opacity, and no colour under full transparency', () => {
    const clear = (rgb: number[]) => ({width: 1, height: 1, data: new Uint8ClampedArray([...rgb, 0])});
    expect(difference(clear(white), clear(black)).psnrDb).toBe(Infinity);
    expect(difference(clear(black), picture(1, [black])).largest).toBe(-1);
  });
  it('compares the common part of different sizes', () => {
    const d = difference(picture(2, [black, white, black, white]), picture(1, [black]));
    expect([d.width, d.height, d.cropped, d.meanAbs]).toEqual([1, 1, true, 0]);
  });
  it('paints zero as the neutral of the map and ends as its ends', () => {
    const d = difference(picture(3, [white, black, black]), picture(3, [black, black, white]));
    const px = paintDifference(d, 1, 'signed', false);
    expect([...px.slice(0, 3)]).toEqual([0x7f, 0x23, 0x0b]);
    expect([...px.slice(8, 11)]).toEqual([0x0a, 0x3f, 0x86]);
    const ember = paintDifference(d, 1, 'magnitude', false);
    expect([...ember.slice(4, 7)]).toEqual([0x08, 0x08, 0x11]);
    expect([...ember.slice(0, 3)]).toEqual([...ember.slice(8, 11)]);
  });
});

describe('adjust', () => {
  const a = picture(2, [
    [10, 100, 200],
    [255, 0, 128],
  ]);
  it('changes nothing by default', () => expect(adjust(a, UNCHANGED)).toEqual(a.data));
  it('doubles with brightness 2 and clamps', () => {
    expect([...adjust(a, {...UNCHANGED, brightness: 2}).slice(0, 3)]).toEqual([20, 200, 255]);
  });
  it('is all mid grey with contrast 0', () => {
    expect([...adjust(a, {...UNCHANGED, contrast: 0}).slice(0, 3)]).toEqual([128, 128, 128]);
  });
  it('shows one channel as grey', () => {
    expect([...adjust(a, {...UNCHANGED, channel: 'g'})]).toEqual([100, 100, 100, 255, 0, 0, 0, 255]);
  });
});

it('pixelAt is null outside', () => {
  const a = picture(1, [[1, 2, 3]]);
  expect(pixelAt(a, 0, 0)).toEqual([1, 2, 3, 255]);
  expect(pixelAt(a, 1, 0)).toBeNull();
});
