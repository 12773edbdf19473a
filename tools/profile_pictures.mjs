// Pictures of every profile page, light and dark, for the documentation, from the captures in tests/data/profile:
//   node tools/profile_pictures.mjs [OUT] [NAME ...]    (default OUT: build/images; all pages unless named)
// The captures of GPUs among them (made_gpu.*) are made by a program, not recorded.
// Needs build/release/sonde and the page's node_modules (playwright-core) and chromium.
import {copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {tmpdir} from 'node:os';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {serve} from './serve.mjs';
import {gunzipSync} from 'node:zlib';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const {chromium} = createRequire(join(root, 'web/package.json'))('playwright-core');
const [out = join(root, 'build/images'), ...wanted] = process.argv.slice(2);
mkdirSync(out, {recursive: true});

// Session, then its files in tests/data/profile by the names they had.
const CAPTURES = {
  'tf/input_bound': {'vm.xplane.pb': 'tf_loop_input_bound.xplane.pb.gz'},
  'tf/input_fixed': {'vm.xplane.pb': 'tf_loop_input_fixed.xplane.pb.gz'},
  'jax/mlp': {'vm.xplane.pb': 'jax_cpu_mlp.xplane.pb.gz'},
  'jax/two_devices': {'vm.xplane.pb': 'jax_cpu_2dev.xplane.pb.gz'},
  'made/gpu': {'host0.xplane.pb': 'made_gpu.xplane.pb.gz'},
  'made/torch': {'worker0.pt.trace.json': 'made_gpu.worker0.pt.trace.json.gz'},
  'torch/full': {'worker0.pt.trace.json': 'torch_cpu_full.worker0.pt.trace.json.gz'},
  'torch/modules': {'worker0.pt.trace.json': 'torch_cpu_modules.worker0.pt.trace.json.gz'},
  'torch/two_ranks': {'worker0.pt.trace.json': 'torch_gloo_2ranks.worker0.pt.trace.json.gz', 'worker1.pt.trace.json': 'torch_gloo_2ranks.worker1.pt.trace.json.gz'},
};
const BOUND = {session: 'tf/input_bound'};
const FIXED = {session: 'tf/input_fixed', baseline: 'tf/input_bound'};
const JAX = {session: 'jax/mlp'};
const TORCH = {session: 'torch/full'};
const RANKS = {session: 'torch/two_ranks'};
// Name of the picture, and the view it shows.
const PAGES = {
  overview: {...BOUND, tool: 'overview_page'}, overview_compared: {...FIXED, tool: 'overview_page'}, compare: {...FIXED, tool: 'compare'},
  input_pipeline: {...BOUND, tool: 'input_pipeline_analyzer'}, tf_data_bottlenecks: {...BOUND, tool: 'tf_data_bottleneck_analysis'},
  framework_op_statistics: {...BOUND, tool: 'framework_op_stats'}, memory_profile: {...BOUND, tool: 'memory_profile'}, steps_by_host: {...RANKS, tool: 'pod_viewer'},
  op_profile: {...JAX, tool: 'op_profile'}, hlo_op_statistics: {...JAX, tool: 'hlo_stats'}, hlo_graph: {...JAX, tool: 'graph_viewer'}, roofline: {...JAX, tool: 'roofline_model'},
  memory_of_a_compiled_program: {...JAX, tool: 'memory_viewer', baseline: 'jax/two_devices'}, contents_of_the_capture: {...JAX, tool: 'xspace_digest'},
  kernel_statistics: {session: 'made/gpu', tool: 'kernel_stats'}, pytorch_kernels: {session: 'made/torch', tool: 'torch.kernel'}, notes_and_files: {...JAX, tool: 'information'},
  kernels_without_data: {...BOUND, tool: 'kernel_stats'},
  pytorch_overview: {...RANKS, tool: 'torch.overview'}, pytorch_operators: {...TORCH, tool: 'torch.operator', baseline: 'torch/modules'}, pytorch_memory: {...TORCH, tool: 'torch.memory'},
  pytorch_modules: {...TORCH, tool: 'torch.module', baseline: 'torch/modules'}, pytorch_distributed: {...RANKS, tool: 'torch.distributed'}, pytorch_ranks: {...RANKS, tool: 'torch.ranks'},
  inference: {...BOUND, tool: 'inference_profile'}, sql: {...BOUND, tool: 'sql', sql: 'select name, count(*) as calls, sum(dur) as total\nfrom slices group by name order by total desc limit 20'},
  capture: {...BOUND, tool: 'overview_page'},
  critical_path: {session: 'made/torch', tool: 'critical_path'}, critical_path_track: {...RANKS, host: 'ALL_HOSTS', tool: 'trace_viewer', extra: [{sql: '#critical_path', kind: 'slices', by: '', title: 'Critical path'}]},
  memory_snapshot: {session: 'memory/made_memory.pickle', tool: 'memory_snapshot'}, memory_of_jax: {session: 'memory/jax_device_memory.prof', tool: 'memory_snapshot'}, python_frames: {...TORCH, tool: 'trace_viewer'},
  trace_viewer: {...BOUND, tool: 'trace_viewer'}, stacked_captures: {session: 'tf/input_bound', second: 'tf/input_fixed', align: 'step', tool: 'trace_viewer'},
};

const logs = mkdtempSync(join(tmpdir(), 'sonde-pictures-'));
for (const [session, files] of Object.entries(CAPTURES)) {
  const [run, name] = session.split('/');
  const folder = join(logs, run, 'plugins/profile', name);
  mkdirSync(folder, {recursive: true});
  for (const [file, source] of Object.entries(files)) writeFileSync(join(folder, file), gunzipSync(readFileSync(join(root, 'tests/data/profile', source))));
}
mkdirSync(join(logs, 'memory'));
for (const name of ['made_memory.pickle', 'jax_device_memory.prof']) copyFileSync(join(root, 'tests/data/profile', name), join(logs, 'memory', name));
const {program, address} = await serve(logs, '--window_title', 'captures');
const browser = await chromium.launch({executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium'});
for (const scheme of ['light', 'dark']) {
  for (const [name, view] of Object.entries(PAGES).filter(([one]) => wanted.length === 0 || wanted.includes(one))) {
    const page = await browser.newPage({viewport: {width: 1440, height: 900}, colorScheme: scheme});
    await page.goto(`${address}#profile&v=1.${Buffer.from(JSON.stringify({profile: view})).toString('base64url')}`);
    await page.locator('.scroll .card, .scroll .empty, .stage[data-ready]').nth(view.second === undefined ? 0 : 1).waitFor();
    await page.waitForLoadState('networkidle', {timeout: 2500}).catch(() => {}); // the stream of changes stays open
    if (name === 'capture') await page.getByRole('button', {name: 'Capture', exact: true}).click();
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    await page.screenshot({path: join(out, `profile_${name}_${scheme}.png`)});
    await page.close();
  }
}
await browser.close();
program.kill('SIGTERM');
rmSync(logs, {recursive: true, force: true});
