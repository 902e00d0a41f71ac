// The state machine of a case. Pure: one table of transitions with their requirements. A terminal state needs a reason,
// and the reason must be true.

import type { Role } from '#src/catalogue/access.ts'
import { visibleLength } from '#src/platform/sanitize.ts'

const OPEN_STATES = ['open', 'in_review', 'info_requested', 'escalated'] as const
export const TERMINAL_STATES = ['approved', 'denied', 'withdrawn', 'closed_undecided'] as const
export const STATES = [...OPEN_STATES, ...TERMINAL_STATES] as const
export type CaseState = (typeof STATES)[number]

/** Specification, reason codes: those of cases. */
export const REASON_CODES = [
  'provenance_verified',
  'risk_accepted',
  'signature_invalid',
  'suspected_fraud',
  'insufficient_evidence',
  'policyholder_withdrew',
  'other',
] as const
export type CaseReasonCode = (typeof REASON_CODES)[number]

/** Least length of the note that explains `other`, in characters. */
export const MIN_NOTE_LENGTH = 10

interface Transition {
  from: readonly CaseState[]
  to: CaseState
  /** Empty: no reason may be given. */
  reasons: readonly CaseReasonCode[]
  needs?: 'assignee' | 'note'
  /** The roles that may make the transition; absent: all. */
  roles?: readonly Role[]
}

const JUDGING = ['in_review', 'escalated'] as const

const TRANSITIONS: readonly Transition[] = [
  { from: ['open'], to: 'in_review', reasons: [], needs: 'assignee' },
  { from: ['in_review'], to: 'info_requested', reasons: [], needs: 'note' },
  { from: ['info_requested'], to: 'in_review', reasons: [] },
  {
    from: ['in_review', 'info_requested'],
    to: 'escalated',
    reasons: ['suspected_fraud', 'signature_invalid', 'insufficient_evidence', 'other'],
  },
  { from: JUDGING, to: 'approved', reasons: ['provenance_verified', 'risk_accepted', 'other'] },
  {
    from: JUDGING,
    to: 'denied',
    reasons: ['signature_invalid', 'suspected_fraud', 'insufficient_evidence', 'other'],
  },
  { from: OPEN_STATES, to: 'withdrawn', reasons: ['policyholder_withdrew'] },
  { from: JUDGING, to: 'closed_undecided', reasons: ['insufficient_evidence'] },
  { from: TERMINAL_STATES, to: 'in_review', reasons: ['other'], roles: ['owner', 'admin'] },
]

/** The members of a case that a transition depends on. */
export interface CaseSubject {
  state: CaseState
  assignee: string | null
  /** Who first named a suspected fraud: a second person must make the denial. */
  fraudActor: string | null
}

export interface Wish {
  to: CaseState
  reasonCode: CaseReasonCode | null
  /** Trimmed. */
  note: string | null
  actor: string
  role: Role
}

export interface Surroundings {
  claim: { provenanceStatus: string | null; riskStatus: string; factorCodes: readonly string[] }
  /** A denial for suspected fraud needs two persons. */
  isFourEyes: boolean
}

export type Refusal =
  | 'transition_not_allowed'
  | 'reason_not_allowed'
  | 'note_required'
  | 'role_not_allowed'
  | 'assignee_required'
  | 'provenance_not_verified'
  | 'risk_not_flagged'
  | 'signature_not_invalid'
  | 'second_adjuster_required'

/** `proposed`: the first of two adjusters has decided; the state stays. */
export type Ruling = { kind: 'applied' } | { kind: 'proposed' } | { kind: 'refused'; code: Refusal; detail: string }

export function judgeTransition(subject: CaseSubject, wish: Wish, { claim, isFourEyes }: Surroundings): Ruling {
  const { to, reasonCode, actor, role } = wish
  const transition = TRANSITIONS.find((one) => one.to === to && one.from.includes(subject.state))
  if (transition === undefined)
    return refuse('transition_not_allowed', `A case that is ${subject.state} can't become ${to}.`)
  const { reasons, needs, roles } = transition
  if (!isReasonOf(reasons, reasonCode)) return refuse('reason_not_allowed', describeReasons(to, reasons))
  if (isNoteMissing(wish, needs === 'note')) {
    return refuse(
      'note_required',
      reasonCode === 'other' ? OTHER_NEEDS_NOTE : `To become ${to}, the case needs a note.`,
    )
  }
  if (roles !== undefined && !roles.includes(role)) {
    return refuse('role_not_allowed', `The transition needs the role ${roles.join(' or ')}.`)
  }
  if (needs === 'assignee' && subject.assignee === null) {
    return refuse('assignee_required', 'The case needs an assignee before it is reviewed.')
  }
  const obstacle = obstacleOf(reasonCode, claim)
  if (obstacle !== undefined) return refuse(...obstacle)
  if (to === 'denied' && reasonCode === 'suspected_fraud' && isFourEyes) {
    if (subject.fraudActor === null) return { kind: 'proposed' }
    if (subject.fraudActor === actor) {
      return refuse(
        'second_adjuster_required',
        `${actor} proposed the denial for suspected fraud: another person must confirm it.`,
      )
    }
  }
  return { kind: 'applied' }
}

/** Who is the first of the two adjusters after this ruling. Anything but naming a fraud clears it. */
export function fraudActorAfter(
  { to, reasonCode, actor }: Pick<Wish, 'to' | 'reasonCode' | 'actor'>,
  kind: 'applied' | 'proposed',
): string | null {
  const hasNamed = kind === 'proposed' || (to === 'escalated' && reasonCode === 'suspected_fraud')
  return hasNamed ? actor : null
}

/** The states that a case in this state can become. */
export function allowedFrom(state: CaseState): CaseState[] {
  return STATES.filter((to) => TRANSITIONS.some((one) => one.to === to && one.from.includes(state)))
}

/** What a case can become now for a user with this role, and what the change requires. */
export interface Option {
  to: CaseState
  /** Reason codes that fit the claim; empty: no reason is given. */
  reasonCodes: CaseReasonCode[]
  needsNote: boolean
  needsAssignee: boolean
  /** Set for the reason suspected_fraud. */
  needsSecondPerson: boolean
}

/** The transitions that `judgeTransition` does not refuse for their reasons, the role or the state. */
export function optionsOf(
  { state, assignee }: Pick<CaseSubject, 'state' | 'assignee'>,
  role: Role,
  { claim, isFourEyes }: Surroundings,
): Option[] {
  return STATES.flatMap((to) => {
    const transition = TRANSITIONS.find((one) => one.to === to && one.from.includes(state))
    if (transition === undefined || !(transition.roles?.includes(role) ?? true)) return []
    const { reasons, needs } = transition
    const reasonCodes = reasons.filter((code) => obstacleOf(code, claim) === undefined)
    if (reasons.length > 0 && reasonCodes.length === 0) return []
    const isOtherOnly = reasonCodes.length === 1 && reasonCodes[0] === 'other'
    return [
      {
        to,
        reasonCodes,
        needsNote: needs === 'note' || isOtherOnly,
        needsAssignee: needs === 'assignee' && assignee === null,
        needsSecondPerson: isFourEyes && to === 'denied',
      },
    ]
  })
}

/** Whether the transition needs an assignee. */
export function needsAssignee(from: CaseState, to: CaseState): boolean {
  return TRANSITIONS.some((one) => one.to === to && one.from.includes(from) && one.needs === 'assignee')
}

export function isTerminal(state: CaseState): boolean {
  return TERMINAL_STATES.some((one) => one === state)
}

/** Whether the note is too short for the transition in any case. */
export function isNoteTooShort({ to, reasonCode, note }: Pick<Wish, 'to' | 'reasonCode' | 'note'>): boolean {
  return isNoteMissing({ reasonCode, note }, to === 'info_requested')
}

export const OTHER_NEEDS_NOTE = `The reason other needs a note of at least ${MIN_NOTE_LENGTH} characters.`

function isNoteMissing({ reasonCode, note }: Pick<Wish, 'reasonCode' | 'note'>, isNeeded: boolean): boolean {
  const length = visibleLength(note ?? '')
  return reasonCode === 'other' ? length < MIN_NOTE_LENGTH : isNeeded && length === 0
}

// Why the reason does not hold for the claim.
function obstacleOf(
  reasonCode: CaseReasonCode | null,
  claim: Surroundings['claim'],
): [code: Refusal, detail: string] | undefined {
  if (reasonCode === 'provenance_verified' && claim.provenanceStatus !== 'verified') {
    return ['provenance_not_verified', `The claim's provenance is ${claim.provenanceStatus ?? 'not known yet'}.`]
  }
  if (reasonCode === 'risk_accepted' && claim.riskStatus !== 'review' && claim.riskStatus !== 'failed') {
    return ['risk_not_flagged', `The claim's risk status is ${claim.riskStatus}: there is no risk to accept.`]
  }
  if (reasonCode === 'signature_invalid' && !claim.factorCodes.includes('signature_invalid')) {
    return ['signature_not_invalid', 'No signature of this claim was found invalid.']
  }
  return undefined
}

function isReasonOf(reasons: readonly CaseReasonCode[], reasonCode: CaseReasonCode | null): boolean {
  return reasonCode === null ? reasons.length === 0 : reasons.includes(reasonCode)
}

function describeReasons(to: CaseState, reasons: readonly CaseReasonCode[]): string {
  return reasons.length === 0
    ? `To become ${to}, the case takes no reason.`
    : `To become ${to}, the case takes one of these reasons: ${reasons.join(', ')}.`
}

function refuse(code: Refusal, detail: string): Ruling {
  return { kind: 'refused', code, detail }
}
