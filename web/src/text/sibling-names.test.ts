import {expect, test} from 'vitest';
import {nameParts, siblingCuts, withoutSharedWords} from './sibling-names.ts';

test('the end of a name begins where its siblings differ', () => {
  const names = ['sweep_resnet_lr0.1_seed0', 'sweep_resnet_lr0.1_seed1', 'sweep_resnet_lr0.01_seed0', 'baseline'];
  const cuts = siblingCuts(names);
  expect(names.map(name => nameParts(name, cuts.get(name)))).toEqual([
    ['sweep_resnet_', 'lr0.1_seed0', ''],
    ['sweep_resnet_', 'lr0.1_seed1', ''],
    ['sweep_resnet_', 'lr0.01_seed0', ''],
    ['baseline', '', ''],
  ]);
});

test('a name without siblings keeps its end', () => {
  const long = 'a_very_long_name_of_a_run';
  expect(nameParts(long, siblingCuts([long, 'b']).get(long))).toEqual(['a_very_long_name_of', '', '_a_run']);
});

test('the end that stays is whole words', () => {
  expect(nameParts('digits/lr0.03_h24_relu/validation')).toEqual(['digits/lr0.03_h24_relu', '', '/validation']);
  expect(nameParts('digits/lr0.03_h24_relu/train')).toEqual(['digits/lr0.03_h24_relu', '', '/train']);
  expect(nameParts('averyveryverylongword')).toEqual(['averyveryvery', '', 'longword']);
});

test('an end in which siblings differ stays, one they share gives way', () => {
  const parts = (names: string[]): string[][] => {
    const cuts = siblingCuts(names);
    return names.map(name => nameParts(name, cuts.get(name)));
  };
  expect(parts(['exp_adam/resnet_lr0.1_wd0_seed3', 'exp_adam/resnet_lr0.03_wd0_seed4'])).toEqual([
    ['exp_adam/resnet_', 'lr0.1_wd0', '_seed3'],
    ['exp_adam/resnet_', 'lr0.03_wd0', '_seed4'],
  ]);
  expect(parts(['net_imagenet_lr0.1_cosine_schedule', 'net_imagenet_lr0.2_cosine_schedule'])).toEqual([
    ['net_imagenet_', 'lr0.1_cosine_schedule', ''],
    ['net_imagenet_', 'lr0.2_cosine_schedule', ''],
  ]);
});

test('a name that begins another keeps its last word; a word without an end is split', () => {
  expect(siblingCuts(['experiment_7', 'experiment_7_bis']).get('experiment_7_bis')?.at).toBe(11);
  const long = 'x'.repeat(40);
  expect(siblingCuts([`${long}a`, `${long}b`]).get(`${long}a`)?.at).toBe(40);
});

test('heads of columns lose the words they share', () => {
  expect(withoutSharedWords(['epoch_loss', 'epoch_accuracy'])).toEqual(['loss', 'accuracy']);
  expect(withoutSharedWords(['val_epoch_loss', 'val_epoch_acc', 'lr'])).toEqual(['loss', 'acc', 'lr']);
  expect(withoutSharedWords(['train_loss', 'valid_loss'])).toEqual(['train_loss', 'valid_loss']);
  expect(withoutSharedWords(['validation_loss'])).toEqual(['validation_loss']);
});
