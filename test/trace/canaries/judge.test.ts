import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type CheckedReading, type CheckFacts, judgeCheck, type KillSwitch, MODES } from '#src/trace/canaries/judge.ts'
import { type Reading, readingsBody, shownReading, toReadings } from '#src/trace/canaries/readings.ts'

const AT = '2026-11-20T15:10:00.000Z'
const [AGENT, OTHER, SESSION] = ['agt_1', 'agt_2', 'run-7'] as const

const readingOf = (family: string, score: number, threshold = 0.5): Reading => ({
  family,
  score,
  raw: null,
  threshold,
  tripped: score >= threshold,
  probe_version: null,
  layer: null,
  aggregator: null,
  n_tokens: null,
})

interface Given {
  mode?: KillSwitch['mode']
  settings?: Partial<KillSwitch>
  ageSeconds?: number
  readings?: Reading[] | null
  of?: Partial<CheckedReading>
  facts?: Partial<CheckFacts>
}

function factsOf({ mode = 'block_and_lock', settings, ageSeconds = 1, readings, of, facts }: Given = {}): CheckFacts {
  const subject = { agent_session_id: SESSION, agent_id: AGENT }
  return {
    at: AT,
    ...subject,
    kill_switch: {
      mode,
      max_age_s: 300,
      families: [],
      apply_to: {},
      allow_experimental: false,
      reading: RULE,
      ...settings,
    },
    reading:
      readings === null
        ? null
        : {
            trace_id: 'trc_1',
            source: 'client',
            canary_set: 's',
            canary_hash: 'h',
            reading_at: new Date(Date.parse(AT) - ageSeconds * 1_000).toISOString(),
            ...subject,
            ...of,
            readings: readings ?? [readingOf('f', 0.9)],
          },
    lock_id: null,
    is_subject_locked: false,
    ...facts,
  }
}

const QUIET = [readingOf('f', 0.1)]
const RULE = { models: ['tiny'], max_tokens: 64 }
const tripOf = (ageSeconds: number) => factsOf({ ageSeconds }).reading
const DISABLED = { family: 'f', threshold: 0.1, enabled: false }

describe('the kill switch', () => {
  const TABLE: [string, Given, [allowed: boolean, reason: string | null, locks: boolean, emits: boolean]][] = [
    ['allows a quiet reading', { readings: QUIET }, [true, null, false, false]],
    ['refuses a trip, and locks', {}, [false, 'canary_tripped', true, true]],
    ['refuses a trip without a lock under block', { mode: 'block' }, [false, 'canary_tripped', false, true]],
    ['reports a trip under monitor', { mode: 'monitor' }, [true, 'canary_tripped', false, false]],
    ['judges nothing when it is off', { mode: 'off' }, [true, null, false, false]],
    ['refuses what is missing', { readings: null }, [false, 'canary_unavailable', false, false]],
    ['reports what is missing', { readings: null, mode: 'monitor' }, [true, 'canary_unavailable', false, false]],
    ['counts a reading of exactly its age', { ageSeconds: 300, readings: QUIET }, [true, null, false, false]],
    ['refuses an older one, and does not lock', { ageSeconds: 300.001 }, [false, 'reading_too_old', false, false]],
    ['reports an older one', { ageSeconds: 301, mode: 'monitor' }, [true, 'reading_too_old', false, false]],
    [
      'refuses by a lock first',
      { facts: { lock_id: 'lck_1', is_subject_locked: true } },
      [false, 'session_canary_locked', false, false],
    ],
    [
      'refuses by a lock without a reading',
      { readings: null, facts: { lock_id: 'lck_1' } },
      [false, 'session_canary_locked', false, false],
    ],
    [
      'refuses by a lock when it is off',
      { mode: 'off', readings: QUIET, facts: { lock_id: 'lck_1' } },
      [false, 'session_canary_locked', false, false],
    ],
    [
      'locks a session of an agent that another lock holds',
      { facts: { lock_id: 'lck_1' } },
      [false, 'session_canary_locked', true, true],
    ],
    [
      'says no more under block while a lock holds',
      { mode: 'block', facts: { lock_id: 'lck_1' } },
      [false, 'session_canary_locked', false, false],
    ],
    [
      'refuses without anything to lock',
      { of: { agent_session_id: null, agent_id: null }, facts: { agent_session_id: null, agent_id: null } },
      [false, 'canary_tripped', false, true],
    ],
    [
      'takes the reading of another session for none',
      { readings: QUIET, of: { agent_session_id: 'x', agent_id: null } },
      [false, 'canary_unavailable', false, false],
    ],
    [
      'takes the reading of nobody for none',
      { readings: QUIET, of: { agent_session_id: null, agent_id: null } },
      [false, 'canary_unavailable', false, false],
    ],
    [
      'takes a reading of another session of the agent',
      { readings: QUIET, of: { agent_session_id: 'x' } },
      [true, null, false, false],
    ],
    [
      'leaves agents alone that it does not apply to',
      { settings: { apply_to: { agents: [OTHER] } } },
      [true, null, false, false],
    ],
    [
      'applies to requests that name no agent',
      { settings: { apply_to: { agents: [OTHER] } }, facts: { agent_id: null } },
      [false, 'canary_tripped', true, true],
    ],
    [
      'does not count an experimental probe beside a measured one',
      { readings: [...QUIET, { ...readingOf('g', 0.9), probe_status: 'experimental' }] },
      [true, null, false, false],
    ],
    [
      'takes a reading of experimental probes alone for none',
      { readings: [{ ...readingOf('f', 0.1), probe_status: 'experimental' }] },
      [false, 'canary_unavailable', false, false],
    ],
    [
      'counts an experimental probe where the account allows it',
      { readings: [{ ...readingOf('f', 0.9), probe_status: 'experimental' }], settings: { allow_experimental: true } },
      [false, 'canary_tripped', true, true],
    ],
    [
      'reports a trip of an experimental probe under monitor',
      { readings: [{ ...readingOf('f', 0.9), probe_status: 'experimental' }], mode: 'monitor' },
      [true, 'canary_tripped', false, false],
    ],
    [
      'counts its own threshold',
      { settings: { families: [{ family: 'f', threshold: 0.95, enabled: true }] } },
      [true, null, false, false],
    ],
    [
      'trips at exactly the threshold',
      { settings: { families: [{ family: 'f', threshold: 0.9, enabled: true }] } },
      [false, 'canary_tripped', true, true],
    ],
    [
      'leaves out a family that is not enabled',
      { readings: [readingOf('f', 0.9), readingOf('g', 0.1)], settings: { families: [DISABLED] } },
      [true, null, false, false],
    ],
    [
      'takes a reading for none of which no family is enabled',
      { settings: { families: [DISABLED] } },
      [false, 'canary_unavailable', false, false],
    ],
    [
      'refuses nothing under monitor for a reading of which no family is enabled',
      { mode: 'monitor', settings: { families: [DISABLED] } },
      [true, 'canary_unavailable', false, false],
    ],
    [
      'refuses by the newest trip in place of a quiet reading, and locks',
      { readings: QUIET, facts: { trip: tripOf(10) } },
      [false, 'canary_tripped', true, true],
    ],
    [
      'refuses by the newest trip in place of none',
      { readings: null, mode: 'block', facts: { trip: tripOf(10) } },
      [false, 'canary_tripped', false, true],
    ],
    [
      'reports the newest trip under monitor',
      { readings: QUIET, mode: 'monitor', facts: { trip: tripOf(10) } },
      [true, 'canary_tripped', false, false],
    ],
    ['leaves an older trip alone', { readings: QUIET, facts: { trip: tripOf(300.5) } }, [true, null, false, false]],
    [
      'locks no second session for the trip of another one',
      { readings: QUIET, facts: { trip: tripOf(10), lock_id: 'lck_1' } },
      [false, 'session_canary_locked', false, false],
    ],
    [
      'takes a reading for none whose model the account did not choose',
      { readings: QUIET, settings: { reading: RULE }, of: { origin: { model: 'other', cut_after: null } } },
      [false, 'canary_unavailable', false, false],
    ],
    [
      'takes a reading for none that ended early by its length',
      { readings: QUIET, settings: { reading: RULE }, of: { origin: { model: 'tiny', cut_after: 63 } } },
      [false, 'canary_unavailable', false, false],
    ],
    [
      'allows one that ended at its length',
      { readings: QUIET, settings: { reading: RULE }, of: { origin: { model: 'tiny', cut_after: 64 } } },
      [true, null, false, false],
    ],
    [
      'counts the trip of a reading that can not allow',
      { settings: { reading: RULE }, of: { origin: { model: 'other', cut_after: 3 } } },
      [false, 'canary_tripped', true, true],
    ],
    [
      'asks for no reading where it is off',
      { mode: 'off', settings: { families: [DISABLED] } },
      [true, null, false, false],
    ],
  ]

  it.each(TABLE)('%s', (_title, given, [allowed, reason, locks, emits]) => {
    expect(judgeCheck(factsOf(given))).toMatchObject({ allowed, reason, locks, emits })
  })

  it('names what tripped, by which threshold, and the age of the reading', () => {
    const readings = [readingOf('a', 0.6), readingOf('b', 0.6), readingOf('c', 0.2)]
    const settings = { families: [{ family: 'b', threshold: 0.7, enabled: true }] }
    expect(judgeCheck(factsOf({ readings, settings, ageSeconds: 1.5 }))).toMatchObject({
      stale: false,
      reading_age_s: 1.5,
      mode: 'block_and_lock',
      tripped_families: ['a'],
      families: [
        { family: 'a', threshold: 0.5, tripped: true },
        { family: 'b', threshold: 0.7, tripped: false },
        { family: 'c', tripped: false },
      ],
    })
    expect(judgeCheck(factsOf({ ageSeconds: -20 }))).toMatchObject({ reading_age_s: 0, stale: false })
  })

  it('fails closed: what a stricter mode allows, every other mode allows, and no lock goes with an allowed answer', () => {
    const given = fc.record({
      ageSeconds: fc.integer({ min: -30, max: 700 }),
      readings: fc.option(
        fc.array(fc.record({ family: fc.constantFrom('a', 'b'), score: fc.double({ min: 0, max: 1, noNaN: true }) })),
        { nil: null },
      ),
      agent: fc.constantFrom(AGENT, OTHER, null),
      lock: fc.constantFrom(null, 'lck_1'),
      isOwn: fc.boolean(),
      agents: fc.option(fc.constant<string[]>([AGENT]), { nil: undefined }),
    })
    fc.assert(
      fc.property(given, ({ ageSeconds, readings, agent, lock, isOwn, agents }) => {
        const answers = MODES.map((mode) =>
          judgeCheck(
            factsOf({
              mode,
              ageSeconds,
              readings: readings?.map(({ family, score }) => readingOf(family, score)) ?? null,
              settings: { apply_to: { agents } },
              facts: { agent_id: agent, lock_id: lock, is_subject_locked: lock !== null && isOwn },
            }),
          ),
        )
        answers.forEach((answer, index) => {
          if (answer.allowed) expect(answer.locks || answer.emits).toBe(false)
          if (lock !== null) expect(answer).toMatchObject({ allowed: false, reason: 'session_canary_locked' })
          if (answer.allowed) expect(answers.slice(0, index).every(({ allowed }) => allowed)).toBe(true)
          if (answer.locks) expect([isOwn && lock !== null, answer.stale]).toEqual([false, false])
        })
      }),
    )
  })
})

describe('readings of a client', () => {
  it('are sorted and keep their digits, so that equal readings are stored and hashed alike', () => {
    const body = [
      { family: 'b', score: 0.123_456_78, threshold: 0.5 },
      { family: 'a', score: 0.499_999_9, raw: -3.000_000_4, layer: 7 },
    ]
    const readings = toReadings(readingsBody.parse(body))
    expect(readings).toEqual([
      { ...readingOf('a', 0.499_999_9), raw: -3.000_000_4, layer: 7 },
      readingOf('b', 0.123_456_78),
    ])
    expect(readings.map(({ tripped }) => tripped)).toEqual([false, false])
    expect(readings.map(shownReading)).toEqual([
      { ...readingOf('a', 0.5), tripped: false, raw: -3, layer: 7 },
      readingOf('b', 0.123_457),
    ])
    expect(toReadings(readingsBody.parse(body.toReversed()))).toEqual(toReadings(readingsBody.parse(body)))
    const huge = toReadings(readingsBody.parse([{ family: 'a', score: 1, raw: 1.7e308 }]))
    expect([...huge, ...huge.map(shownReading)].map(({ raw }) => raw)).toEqual([1.7e308, 1.7e308])
  })

  it('are refused out of range, twice of a family, and without any', () => {
    const refused = [
      [],
      [{ family: 'a', score: 1.01 }],
      [{ family: 'a', score: -0.01 }],
      [{ family: 'a', score: 0.5, threshold: 0 }],
      [{ family: 'A b', score: 0.5 }],
      [{ family: 'a', score: 0.5, tripped: false }],
      [
        { family: 'a', score: 0.5 },
        { family: 'a', score: 0.1 },
      ],
      Array.from({ length: 101 }, (_, index) => ({ family: `f${index}`, score: 0 })),
    ]
    for (const body of refused) expect(readingsBody.safeParse(body).success, JSON.stringify(body)).toBe(false)
  })
})
