import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { hold } from '../../../commands/embedded/process-lock.ts'
import { createWaits } from '../../../commands/waits.ts'
import { until } from '../../support/until.ts'

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'countersign-holders-'))
})
afterEach(() => rmSync(directory, { recursive: true, force: true }))

describe('the lock of an embedded server', () => {
  it('is waited for while its process lives, and that process is named', async () => {
    const first = await hold(directory)
    const lines: string[] = []
    const second = hold(directory, createWaits({ say: (line) => void lines.push(line), everyMs: 20 }))
    await until(() => lines.length > 20)
    expect(lines.at(-1)).toMatch(
      new RegExp(
        `^waiting for process ${process.pid} \\(it starts or ends embedded Postgres\\), which has not released`,
      ),
    )
    first.unlock()
    const { release } = await second
    await release(async () => {})
    await first.release(async () => {})
  })

  it('is waited for no longer when the start is interrupted, and another process gets it', async () => {
    const first = await hold(directory)
    const end = new AbortController()
    const second = hold(directory, createWaits({ signal: end.signal }))
    end.abort('Interrupted')
    await expect(second).rejects.toBe('Interrupted')
    first.unlock()
    const third = await hold(directory)
    let isLast = false
    await third.release(async () => {
      isLast = true
    })
    expect(isLast).toBe(false)
    await first.release(async () => {
      isLast = true
    })
    expect(isLast).toBe(true)
  })
})
