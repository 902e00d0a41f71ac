// An egress thread that hangs, or dies, at its first call.

import { parentPort } from 'node:worker_threads'

parentPort?.on('message', ({ to }: { to?: { target: { path: string } } }) => {
  if (to?.target.path === '/die') throw new Error('told to')
  if (to?.target.path === '/hang') for (;;);
})
