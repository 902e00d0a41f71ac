// How single sign-on fails: a provider, a login, or a whole organization; as errors inside of this folder, and as what a caller gets.

import type { ProviderProblem, SsoRefusal } from '#src/catalogue/sso.ts'
import { Failure } from '#src/failure.ts'
import type { UsableConfig } from './rows.ts'

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

/** The address at which a person of a domain begins to sign in. */
export function startUrl(baseUrl: string, domain: string): string {
  return `${baseUrl}/v1/auth/sso/start?domain=${encodeURIComponent(domain)}`
}

export function ssoRequired(baseUrl: string, domain: string): Failure {
  return new Failure('sso_required', {
    detail: `Users of ${domain} sign in by single sign-on.`,
    members: { start_url: startUrl(baseUrl, domain) },
  })
}

type AccountState = Pick<UsableConfig, 'plan' | 'closedAt' | 'suspendedAt'>

/** Refuses a login of an account that is closed, suspended or on another plan. Callers know the domain, so they may know why. */
export function checkAccount({ plan, closedAt, suspendedAt }: AccountState): void {
  const failure = accountFailure({ plan, closedAt, suspendedAt })
  if (failure !== undefined) throw failure
}

export function accountFailure({ plan, closedAt, suspendedAt }: AccountState): Failure | undefined {
  if (suspendedAt !== null) return new Failure('account_suspended', 'The account of this organization is suspended.')
  if (closedAt !== null) return new Failure('account_suspended', 'The account of this organization is closed.')
  if (plan === 'enterprise') return undefined
  return new Failure('plan_required', {
    detail: 'Single sign-on needs the plan enterprise, which this account does not have.',
    members: { required_plan: 'enterprise' },
  })
}
