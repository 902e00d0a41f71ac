import { execFileSync, spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { QUEUE_NAMES } from '#src/catalogue/queues.ts'
import { readProcfile } from '../../commands/supervisor.ts'

const ROOT = resolve(import.meta.dirname, '../..')

describe('the processes', () => {
  it('are the same in the Procfile, in workers/ and in the table of queues', () => {
    const declared = readProcfile()
    const names = declared.map(({ name }) => name).sort()
    expect(names).toEqual([...QUEUE_NAMES, 'web', 'dispatch', 'clock'].sort())
    expect(
      readdirSync(resolve(ROOT, 'workers'))
        .map((file) => file.replace('.ts', ''))
        .sort(),
    ).toEqual(names)
    for (const { name, command } of declared) expect(command).toEqual(['node', `workers/${name}.ts`])
  })

  // vitest transforms what node refuses: enums, parameter properties, imports without extension.
  it('can be loaded by node as they are', () => {
    const files = readdirSync(resolve(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
      // A thread's file wants to be one.
      .filter((file) => file.endsWith('.ts') && !file.endsWith('-thread.ts'))
    const script = files.map((file) => `await import('./src/${file}')`).join(';')
    execFileSync(process.execPath, ['--input-type=module', '-e', `${script}; process.exit(0)`], {
      cwd: ROOT,
      stdio: 'pipe',
    })
  })

  it('say what is missing in the configuration, and end', () => {
    for (const { command } of readProcfile()) {
      const [, file = ''] = command
      const { status, stderr } = spawnSync(process.execPath, [file], { cwd: ROOT, env: {}, encoding: 'utf8' })
      expect({ file, status }).toEqual({ file, status: 78 })
      expect(stderr).toMatch(/DATABASE_URL.*\n.*MASTER_KEY.*\n.*BLOB_STORE/s)
    }
  })
})
