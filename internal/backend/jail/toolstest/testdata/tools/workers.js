// Threads, child processes, a server of one's own, and files that are watched.
const { Worker, isMainThread, parentPort } = require('worker_threads');
const { execFileSync, fork, spawn } = require('child_process');
const fs = require('fs');
const http = require('http');

if (!isMainThread) {
  parentPort.postMessage(new Array(1000).fill(2).reduce((a, b) => a + b, 0));
} else if (process.argv[2] === 'child') {
  process.send({ pid: process.pid });
  process.disconnect();
} else {
  main().then(() => console.log('workers: all well'), (error) => {
    console.error(error);
    process.exitCode = 1;
  });
}

async function main() {
  const sums = await Promise.all([1, 2, 3, 4].map(() => new Promise((resolve, reject) => {
    new Worker(__filename).on('message', resolve).on('error', reject);
  })));
  if (sums.some((n) => n !== 2000)) throw new Error(`threads: ${sums}`);

  execFileSync('sh', ['-c', 'echo child > from-child.txt']);
  const said = await new Promise((resolve) => fork(__filename, ['child']).on('message', resolve));
  if (!said.pid) throw new Error('fork');
  const code = await new Promise((resolve) => spawn('sh', ['-c', 'exit 9'], { stdio: 'inherit' }).on('exit', resolve));
  if (code !== 9) throw new Error(`spawn: ${code}`);

  const server = http.createServer((_, response) => response.end('own server'));
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const text = await (await fetch(`http://127.0.0.1:${server.address().port}/`)).text();
  server.closeAllConnections();
  server.close();
  if (text !== 'own server') throw new Error(text);

  const watcher = fs.watch('.');
  const event = new Promise((resolve) => watcher.once('change', (_, name) => resolve(name)));
  fs.writeFileSync('seen', '');
  if ((await event) !== 'seen') throw new Error('watch');
  watcher.close();
}
