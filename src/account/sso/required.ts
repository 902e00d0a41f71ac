// Refusals of whole organizations: where single sign-on is demanded, and where the account has lost it.

import { Failure } from '#src/failure.ts'
import type { UsableConfig } from './rows.ts'

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

/** Of somebody who may know of the account: who names a domain knows whose it is. */
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
