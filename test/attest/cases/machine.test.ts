import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  allowedFrom,
  type CaseReasonCode,
  type CaseState,
  type CaseSubject,
  fraudActorAfter,
  isTerminal,
  judgeTransition,
  REASON_CODES,
  type Ruling,
  STATES,
  TERMINAL_STATES,
  type Wish,
} from '#src/attest/cases/machine.ts'
import type { Role } from '#src/catalogue/access.ts'

type Cell = [CaseState, CaseState, CaseReasonCode | null, string]
interface Guard {
  name: string
  from: CaseState
  to: CaseState
  reason_code: CaseReasonCode | null
  note: string | null
  assignee: string | null
  actor: string
  role: Role
  fraud_actor: string | null
  provenance_status: string | null
  risk_status: string
  /** [] when absent. */
  factor_codes?: string[]
  four_eyes: boolean
  expected: string
}
const vectors: { cells: Cell[]; guards: Guard[] } = JSON.parse(
  readFileSync(new URL('../../../vectors/cases/transitions.json', import.meta.url), 'utf8'),
)

const nameOf = (ruling: Ruling) => (ruling.kind === 'refused' ? ruling.code : ruling.kind)
const CLAIM = { provenanceStatus: 'verified', riskStatus: 'failed', factorCodes: ['signature_invalid'] }

describe('the transitions of a case', () => {
  it('match the table for every state, target state and reason', () => {
    expect(vectors.cells).toHaveLength(STATES.length ** 2 * (REASON_CODES.length + 1))
    expect(new Set(vectors.cells.map(([from, to, reason]) => `${from} ${to} ${reason}`)).size).toBe(
      vectors.cells.length,
    )
    for (const [state, to, reasonCode, expected] of vectors.cells) {
      const subject = { state, assignee: 'a@example.com', fraudActor: 'a@example.com' }
      const wish = { to, reasonCode, note: 'ten characters', actor: 'b@example.com', role: 'owner' } as const
      const ruling = judgeTransition(subject, wish, { claim: CLAIM, isFourEyes: true })
      expect(nameOf(ruling), `${state} to ${to} for ${reasonCode}`).toBe(expected)
    }
  })

  it('require exactly the fields that each of them needs', () => {
    for (const guard of vectors.guards) {
      const {
        name,
        from: state,
        to,
        reason_code: reasonCode,
        note,
        assignee,
        actor,
        role,
        fraud_actor: fraudActor,
      } = guard
      const { provenance_status: provenanceStatus, risk_status: riskStatus, factor_codes: factorCodes = [] } = guard
      const claim = { provenanceStatus, riskStatus, factorCodes }
      const around = { claim, isFourEyes: guard.four_eyes }
      const ruling = judgeTransition({ state, assignee, fraudActor }, { to, reasonCode, note, actor, role }, around)
      expect(nameOf(ruling), name).toBe(guard.expected)
    }
  })

  it('are listed for a caller who asks what is allowed', () => {
    for (const state of STATES) {
      const reachable = vectors.cells.filter(([from, , , ruling]) => from === state && ruling === 'applied')
      expect(allowedFrom(state)).toEqual(STATES.filter((to) => reachable.some((cell) => cell[1] === to)))
    }
  })
})

const people = fc.constantFrom('a@example.com', 'b@example.com', 'c@example.com')
const wishes = fc.record<Wish>({
  to: fc.constantFrom(...STATES),
  reasonCode: fc.constantFrom(null, ...REASON_CODES),
  note: fc.constantFrom(null, 'short', 'long enough to explain'),
  actor: people,
  role: fc.constantFrom<Role[]>('owner', 'admin', 'approver', 'analyst', 'developer'),
})
const claims = fc.record({
  provenanceStatus: fc.constantFrom(null, 'verified', 'broken'),
  riskStatus: fc.constantFrom('pending', 'passed', 'review', 'failed'),
  factorCodes: fc.constantFrom<string[][]>([], ['sensor_hash_mismatch'], ['sensor_hash_mismatch', 'signature_invalid']),
})

interface Step {
  wish: Wish
  claim: { provenanceStatus: string | null; riskStatus: string; factorCodes: readonly string[] }
  before: CaseSubject
  ruling: Ruling
  after: CaseSubject
}

/** The result of requested transitions, one after the other, as cases.ts applies them. */
function play(said: readonly [Wish, Step['claim']][]): Step[] {
  let subject: CaseSubject = { state: 'open', assignee: 'a@example.com', fraudActor: null }
  return said.map(([wish, claim]) => {
    const before = subject
    const ruling = judgeTransition(before, wish, { claim, isFourEyes: true })
    if (ruling.kind !== 'refused') {
      const state = ruling.kind === 'applied' ? wish.to : before.state
      subject = { ...before, state, fraudActor: fraudActorAfter(wish, ruling.kind) }
    }
    return { wish, claim, before, ruling, after: subject }
  })
}

const stories = fc.array(fc.tuple(wishes, claims), { minLength: 1, maxLength: 60 }).map(play)
const holds = (check: (steps: Step[]) => void) => fc.assert(fc.property(stories, check), { numRuns: 2_000 })

describe('in any sequence of requests', () => {
  it('a case ends only with a reason, and is reopened for a reason with a note, by an owner or admin', () => {
    holds((steps) => {
      for (const { wish, before, after } of steps) {
        if (before.state === after.state) continue
        if (isTerminal(after.state)) expect(wish.reasonCode).not.toBeNull()
        if (isTerminal(before.state)) {
          expect(after.state).toBe('in_review')
          expect(wish.reasonCode).toBe('other')
          expect(wish.note?.length).toBeGreaterThanOrEqual(10)
          expect(['owner', 'admin']).toContain(wish.role)
        }
      }
    })
  })

  it('a reason of provenance, risk or signature is accepted only if the claim has it', () => {
    holds((steps) => {
      for (const { wish, claim, ruling } of steps) {
        if (ruling.kind !== 'applied') continue
        if (wish.reasonCode === 'provenance_verified') expect(claim.provenanceStatus).toBe('verified')
        if (wish.reasonCode === 'risk_accepted') expect(['review', 'failed']).toContain(claim.riskStatus)
        if (wish.reasonCode === 'signature_invalid') expect(claim.factorCodes).toContain('signature_invalid')
      }
    })
  })

  it('a fraud is denied by two people, both of whom said so after the last other decision', () => {
    holds((steps) => {
      steps.forEach(({ wish, ruling }, index) => {
        if (ruling.kind !== 'applied' || wish.to !== 'denied' || wish.reasonCode !== 'suspected_fraud') return
        const said = steps.slice(0, index).filter((step) => step.ruling.kind !== 'refused')
        const last = said.at(-1)
        expect(last?.wish.reasonCode).toBe('suspected_fraud')
        expect(last?.wish.actor).not.toBe(wish.actor)
      })
    })
  })

  it('a refused request changes nothing, and a proposal changes no state', () => {
    holds((steps) => {
      for (const { before, after, ruling } of steps) {
        if (ruling.kind === 'refused') expect(after).toEqual(before)
        if (ruling.kind === 'proposed') expect(after.state).toBe(before.state)
      }
    })
  })

  it('each terminal state can be reached', () => {
    const reached = new Set(vectors.cells.filter(([, , , ruling]) => ruling === 'applied').map(([, to]) => to))
    for (const state of TERMINAL_STATES) expect(reached).toContain(state)
  })
})
