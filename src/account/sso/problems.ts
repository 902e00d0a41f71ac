// How a provider fails: as an error inside of this folder, and as what a caller gets.

import type { ProviderProblem, SsoRefusal } from '#src/catalogue/sso.ts'
import { Failure } from '#src/failure.ts'

/** The provider did not answer, or not as it must. */
export class ProviderError extends Error {
  override readonly name = 'ProviderError'
  readonly problem: ProviderProblem

  constructor(problem: ProviderProblem, detail: string) {
    super(detail)
    this.problem = problem
  }
}

/** The provider's answer signs nobody in. */
export class LoginRefused extends Error {
  override readonly name = 'LoginRefused'
  readonly refusal: SsoRefusal

  constructor(refusal: SsoRefusal, detail: string) {
    super(detail)
    this.refusal = refusal
  }
}

/** The ProviderError or LoginRefused among an error and its causes: libraries wrap what our own functions throw. */
export function ownErrorOf(error: unknown): ProviderError | LoginRefused | undefined {
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    if (at instanceof ProviderError || at instanceof LoginRefused) return at
  }
  return undefined
}

export function unavailable({ problem, message }: Pick<ProviderError, 'problem' | 'message'>): Failure {
  return new Failure('provider_unavailable', {
    detail: `The identity provider can't be used: ${message}.`,
    members: { cause: problem },
  })
}

export function refused(cause: SsoRefusal, detail: string): Failure {
  return new Failure('sso_login_refused', { detail, members: { cause } })
}
