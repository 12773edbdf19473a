// Starts the program on a log directory for the scripts that take pictures: {program, address}.
import {spawn} from 'node:child_process';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');

export async function serve(logdir, ...flags) {
  const program = spawn(process.env.SONDE_BINARY ?? join(root, 'build/release/sonde'), ['--logdir', logdir, '--port', '0', '--host', '127.0.0.1', '--sidecar', 'off', ...flags], {stdio: ['ignore', 'ignore', 'pipe']});
  const address = await new Promise((resolve, reject) => {
    let text = '';
    program.stderr.on('data', (chunk) => {
      text += chunk;
      const found = /at (http:\S+)/.exec(text);
      if (found) resolve(found[1]);
    });
    program.on('exit', (code) => reject(new Error(`the program ended with ${code}: ${text}`)));
  });
  return {program, address};
}
