// What ends a guarded action other than its result.

interface Refusal {
  detail?: string | undefined
  decisionId?: string | undefined
  jti?: string | undefined
  approvalId?: string | undefined
  cause?: unknown
}

/** The action was refused and did not run. */
export class NotAllowed extends Error {
  override readonly name = 'NotAllowed'
  /** A reason of verify, a rule's own reason, or the code with which authorize refuses. */
  readonly reason: string
  /** Entry of the decision ledger; undefined where no decision was recorded. */
  readonly decisionId: string | undefined
  readonly jti: string | undefined
  /** Approval that is pending, or was not granted. */
  readonly approvalId: string | undefined

  constructor(reason: string, { detail, decisionId, jti, approvalId, cause }: Refusal = {}) {
    super(detail === undefined ? reason : `${reason}: ${detail}`, { cause })
    this.reason = reason
    this.decisionId = decisionId
    this.jti = jti
    this.approvalId = approvalId
  }
}

/** Throw it from `run` where the action failed and had no effect that its budget must pay for: the outcome is `failed`. */
export class ActionFailed extends Error {
  override readonly name: string = 'ActionFailed'
}

/** Throw it from `run` where the action was not begun: the outcome is `not_run`. */
export class NotExecuted extends Error {
  override readonly name: string = 'NotExecuted'
}
