import { describe, expect, it } from 'vitest'
import { createWaits } from '../../commands/waits.ts'
import { until } from '../support/until.ts'

function setUp(signal?: AbortSignal) {
  const lines: string[] = []
  const waits = createWaits({ say: (line) => void lines.push(line), everyMs: 20, signal })
  return { lines, waits }
}

describe('the waits of a start', () => {
  it('are named again and again, with how long they last and the load, until they end', async () => {
    const { lines, waits } = setUp()
    const end = waits.begin('attest', 'become ready')
    await until(() => lines.length >= 3)
    end()
    const said = lines.length
    expect(lines[0]).toMatch(/^waiting for attest, which has not become ready for \d+ s \(load \d+\.\d\)$/)
    const next = waits.begin('screen', 'become ready')
    await until(() => lines.length > said)
    next()
    expect(lines.slice(said).join()).not.toContain('attest')
  })

  it('share a line where they began together and lack the same', async () => {
    const { lines, waits } = setUp()
    const ends = ['attest', 'screen', 'trace'].map((name) => waits.begin(name, 'become ready'))
    ends.push(waits.begin('Postgres', 'answered'))
    await until(() => lines.some((line) => line.includes('attest, screen and trace, which have not become ready')))
    await until(() => lines.some((line) => line.includes('for Postgres, which has not answered')))
    for (const end of ends) end()
  })

  it('say nothing of what is done in time, and pass its result and its failure on', async () => {
    const { lines, waits } = setUp()
    expect(await waits.until('it', 'ended', async () => 7)).toBe(7)
    const failed = waits.until('it', 'ended', () => Promise.reject(new Error('refused')))
    await expect(failed).rejects.toThrow('refused')
    expect(lines).toEqual([])
  })

  it('end with the reason of the signal, whatever becomes of the work', async () => {
    const end = new AbortController()
    const { waits } = setUp(end.signal)
    const work = Promise.withResolvers<void>()
    const waited = waits.until('it', 'ended', () => work.promise)
    end.abort('Interrupted')
    await expect(waited).rejects.toBe('Interrupted')
    work.reject(new Error('nobody sees this'))
    let hasBegun = false
    const late = waits.until('it', 'ended', async () => {
      hasBegun = true
    })
    await expect(late).rejects.toBe('Interrupted')
    expect(hasBegun).toBe(false)
  })
})
