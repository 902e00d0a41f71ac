import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

test.each(['admin', 'capture', 'demo', 'evidence', 'ledger', 'listen', 'submit'])(
  '%s tolerates a reader that closes the pipe early',
  async (name) => {
    const command = fileURLToPath(new URL(`../../commands/${name}.ts`, import.meta.url))
    const child = spawn(process.execPath, [command, '--help'], { stdio: ['ignore', 'pipe', 'pipe'] })
    child.stdout.destroy()
    let stderr = ''
    child.stderr.on('data', (data) => {
      stderr += data
    })
    const [code] = await once(child, 'close')
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  },
)
