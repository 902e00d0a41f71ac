import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { QUEUE_NAMES } from '#src/catalogue/queues.ts'
import { readProcfile } from '../../commands/supervisor.ts'
import { POINTS } from '../../faults/plan.ts'

const ROOT = resolve(import.meta.dirname, '../..')
// The time until processes start and end depends on the load of the machine.
const UNBOUND = { timeout: 600_000 }

describe('the processes', () => {
  it('are the same in the Procfile, in workers/ and in the table of queues', () => {
    const declared = readProcfile()
    const names = declared.map(({ name }) => name).sort()
    expect(names).toEqual([...QUEUE_NAMES, 'web', 'dispatch', 'sequence', 'clock'].sort())
    expect(
      readdirSync(resolve(ROOT, 'workers'))
        .map((file) => file.replace('.ts', ''))
        .filter((name) => name !== 'all')
        .sort(),
    ).toEqual(names)
    for (const { name, command } of declared) expect(command).toEqual(['node', `workers/${name}.ts`])
    const [killed = ''] = /^\| `kill`.*$/m.exec(readFileSync(resolve(ROOT, 'docs/assurance/faults.md'), 'utf8')) ?? []
    const unnamed = names.filter((name) => !killed.includes(`\`${name}\``))
    expect({ file: 'docs/assurance/faults.md', unnamed }).toEqual({ file: 'docs/assurance/faults.md', unnamed: [] })
  })

  it('die at a step of their work in fault runs, each that works for a queue', () => {
    const dying = new Set(POINTS.map(({ process }) => process))
    const unnamed = QUEUE_NAMES.filter((name) => !dying.has(name))
    expect({ file: 'faults/plan.ts', unnamed }).toEqual({ file: 'faults/plan.ts', unnamed: [] })
  })

  // Also those that no test imports.
  it('load with node unchanged', UNBOUND, async () => {
    const files = readdirSync(resolve(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
      // A thread's file fails outside of a thread.
      .filter((file) => file.endsWith('.ts') && !file.endsWith('-thread.ts'))
    const script = files.map((file) => `await import('./src/${file}')`).join(';')
    const { status, stderr } = await runNode(['--input-type=module', '-e', `${script}; process.exit(0)`], process.env)
    expect({ status, stderr }).toEqual({ status: 0, stderr: expect.any(String) })
  })

  // What they compile they write at their end, and all of them at once take long for it.
  it(
    'find what they load in a compile cache that was filled, name what is missing in the configuration, and exit',
    UNBOUND,
    async () => {
      const NODE_COMPILE_CACHE = mkdtempSync(join(tmpdir(), 'countersign-compiled-'))
      onTestFinished(() => rmSync(NODE_COMPILE_CACHE, { recursive: true, force: true }))
      const compiled = () => readdirSync(NODE_COMPILE_CACHE, { recursive: true }).length
      expect((await runNode(['commands/compile-cache.ts'], { NODE_COMPILE_CACHE })).status).toBe(0)
      const filled = compiled()
      expect(filled).toBeGreaterThan(1_000)
      for (const { command } of readProcfile()) {
        const [, file = ''] = command
        const { status, stderr } = await runNode([file], { NODE_COMPILE_CACHE })
        expect({ file, status }).toEqual({ file, status: 78 })
        expect(stderr).toMatch(/DATABASE_URL.*\n.*MASTER_KEY.*\n.*BLOB_STORE/s)
      }
      // Of each process only its own file, and a few that no other loads.
      expect(compiled() - filled).toBeLessThan(5 * readProcfile().length)
    },
  )
})

// Not synchronously: vitest reports an error for a worker that does not answer for a minute.
function runNode(args: string[], environment: NodeJS.ProcessEnv): Promise<{ status: number | null; stderr: string }> {
  return new Promise((done, fail) => {
    // The compile cache saves compiling for each process.
    const { NODE_COMPILE_CACHE } = process.env
    const env = { ...(NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE }), ...environment }
    const child = spawn(process.execPath, args, { cwd: ROOT, env, stdio: ['ignore', 'ignore', 'pipe'] })
    let stderr = ''
    child.stderr.on('data', (chunk: Buffer) => {
      stderr += chunk.toString()
    })
    child.on('error', fail)
    child.on('close', (status) => done({ status, stderr }))
    onTestFinished(() => void child.kill('SIGKILL'))
  })
}
