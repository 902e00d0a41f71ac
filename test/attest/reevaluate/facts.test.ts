import { describe, expect, it } from 'vitest'
import type { Facts } from '#src/attest/factors/facts.ts'
import { judge } from '#src/attest/factors/judge.ts'
import { decodeFacts, encodeFacts } from '#src/attest/factors/stored-facts.ts'
import type { RevocationSnapshot } from '#src/attest/hardware/revocations.ts'
import { refresh } from '#src/attest/reevaluate/refresh.ts'
import { isSame } from '#src/attest/reevaluate/rejudge.ts'
import { factsOf, vectors } from '../factors/vectors.ts'

const stored = (facts: Facts) => decodeFacts(JSON.parse(encodeFacts(facts)))

describe('stored facts', () => {
  it.each(vectors.cases)('are evaluated like the facts themselves: $name', ({ set }) => {
    const facts = factsOf(set)
    expect(stored(facts)).toEqual(facts)
    expect(judge(stored(facts))).toEqual(judge(facts))
    expect(encodeFacts(stored(facts))).toBe(encodeFacts(facts))
  })

  it('keep everything that a photo declares', () => {
    const software = '\0\uD83D "$time" {"$time":"2026-01-01T00:00:00.000Z"}'
    const facts = factsOf({ '/exif/software': software })
    expect(stored(facts)).toEqual(facts)
  })

  it('are plain data, or absent', () => {
    for (const value of [Number.NaN, 1n, new Map(), Buffer.from('x'), () => 1, Symbol('x')]) {
      const facts = { ...factsOf({}), exif: value } as unknown as Facts
      expect(() => encodeFacts(facts), String(value)).toThrow(TypeError)
    }
  })
})

describe('present knowledge', () => {
  const at = new Date('2026-11-21T00:00:00Z')
  const list = (...serials: string[]): RevocationSnapshot => ({
    entries: new Map(serials.map((serial) => [serial, 'REVOKED'])),
    fetchedAt: at,
  })
  const now = (facts: Facts, known: Partial<Parameters<typeof refresh>[1]> = {}) =>
    refresh(facts, {
      device: facts.device,
      revocations: 'off',
      now: at,
      policy: facts.policy,
      screening: facts.screening ?? [],
      ...known,
    })
  const revocation = { revokedAt: at, revokeEffectiveAt: new Date('2026-11-01T00:00:00Z') }

  it.each(vectors.cases)('changes no result when nothing new is known: $name', ({ set }) => {
    const facts = factsOf(set)
    expect(isSame(judge(now(facts)), judge(facts))).toBe(true)
  })

  it('of a device is its revocation; a better tier or a later enrollment does not count', () => {
    const facts = factsOf({ '/device/hardwareTier': 'software' })
    const better = { ...factsOf({}).device, hardwareTier: 'strongbox' } as Facts['device']
    expect(now(facts, { device: better }).device).toEqual(facts.device)
    const unknown = factsOf({ '/device/state': 'not_enrolled', '/device/hardwareTier': 'none' })
    expect(now(unknown, { device: better }).device).toEqual(unknown.device)
    const revoked = { ...better, ...revocation, state: 'revoked', why: 'revoked' } as Facts['device']
    const judged = judge(now(facts, { device: revoked }))
    expect(judged.factors.map(({ code }) => code)).toEqual(['device_revoked', 'hardware_backing_absent'])
    expect(judged.hardwareTier).toBe('software')
  })

  it('of its evidence is the state of its serials on the present list', () => {
    const facts = factsOf({
      '/device/hardware': {
        reasons: [],
        serials: ['aa', 'bb'],
        revocation: { state: 'good', fetchedAt: '2026-11-20T00:00:00.000Z' },
        userGate: null,
        authTimeoutSeconds: null,
        assertion: null,
      },
    })
    expect(judge(now(facts, { revocations: list('cc') })).hardwareTier).toBe('tee')
    const listed = now(facts, { revocations: list('bb') })
    expect(judge(listed).hardwareTier).toBe('none')
    expect(judge(now(listed, { revocations: list() })).hardwareTier).toBe('tee')
    expect(isSame(judge(now(facts, { revocations: list() })), judge(facts))).toBe(true)
  })
})
