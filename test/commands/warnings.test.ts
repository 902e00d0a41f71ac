import { describe, expect, it } from 'vitest'
import { note, within } from '#src/platform/context.ts'
import { createLog } from '#src/platform/log.ts'
import { warningOf } from '../../commands/supervisor.ts'
import { oncePer } from '../../commands/warnings.ts'

const ENDPOINT = `whe_test_${'0'.repeat(26)}`
const OTHER = `whe_test_${'1'.repeat(26)}`

/** What the terminal shows of the log of a deliver process. */
function terminal() {
  const shown: string[] = []
  const clock = { nowMs: 0 }
  const warn = oncePer(
    10_000,
    (line) => shown.push(line),
    () => clock.nowMs,
  )
  const log = createLog(
    { process: 'deliver', level: 'warn' },
    {
      write(line) {
        const warning = warningOf(line.trim())
        if (warning !== undefined) warn(`deliver: ${warning}`)
      },
    },
  )
  const retry = (endpoint: string, error: string) =>
    within({ queue: 'deliver' }, () => {
      note({ endpoint })
      log.warn({ error, delayMs: 5_000 }, 'the job will be tried again')
    })
  return { shown, clock, log, retry }
}

describe('the warning about a delivery that will be retried', () => {
  it('names its endpoint and the reason', () => {
    const { shown, retry } = terminal()
    retry(ENDPOINT, 'tls_failed: CERT_HAS_EXPIRED')
    expect(shown).toEqual([`deliver: the job will be tried again: ${ENDPOINT}: tls_failed: CERT_HAS_EXPIRED`])
  })

  it('is shown once per endpoint and minute, whatever the reason', () => {
    const { shown, clock, retry } = terminal()
    for (let second = 0; second < 60; second += 1) {
      clock.nowMs = second * 1_000
      retry(ENDPOINT, `status ${500 + second}`)
      retry(OTHER, 'timeout: not done in time')
    }
    expect(shown).toHaveLength(2)
    clock.nowMs = 60_000
    retry(ENDPOINT, 'connect_failed: ECONNREFUSED')
    expect(shown).toHaveLength(3)
    expect(shown.at(-1)).toContain(`${ENDPOINT}: connect_failed`)
  })

  it('leaves other warnings unchanged: the same line once per window, another one at once', () => {
    const { shown, clock, log } = terminal()
    for (const nowMs of [0, 9_999, 10_000]) {
      clock.nowMs = nowMs
      log.warn({ err: new Error('refused') }, 'the queue could not be asked')
    }
    log.warn({ reason: 'no disk' }, 'the queue could not be asked')
    expect(shown).toEqual([
      'deliver: the queue could not be asked: refused',
      'deliver: the queue could not be asked: refused',
      'deliver: the queue could not be asked: no disk',
    ])
  })
})
