import {expect, test} from 'vitest';
import {replicaGroups} from './replicas.ts';

test.each([
  [
    '%all-reduce.1 = f32[8]{0} all-reduce(%p), channel_id=1, replica_groups={{0,1},{2,3}}, use_global_device_ids=true',
    '{{0,1},{2,3}}',
  ],
  ['%ag = f32[8] all-gather(%p), replica_groups=[2,4]<=[8], dimensions={0}', '[2,4]<=[8]'],
  ['%ag = f32[8] all-gather(%p), replica_groups=[4,2]<=[2,4]T(1,0), dimensions={0}', '[4,2]<=[2,4]T(1,0)'],
  ['%ar = f32[] all-reduce(%p), replica_groups={}', '{}'],
  ['%add = f32[] add(%a, %b)', ''],
])('groups of %s', (expression, wanted) => expect(replicaGroups(expression)).toBe(wanted));
