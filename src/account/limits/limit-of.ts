// Which limit a request counts against, from the plan table.

import {
  DIRECTORY_RATE,
  EMERGENCY_ACCOUNT_RATE,
  EMERGENCY_RATE,
  PLAN_LIMITS,
  type Rate,
  SANDBOX_LIMITS,
  SESSION_RATE,
} from '#src/catalogue/plans.ts'
import { addressBlock } from '#src/platform/http/client-address.ts'
import type { Caller } from '#src/platform/http/endpoint.ts'
import type { Limit, LimitOf } from '#src/platform/http/limits.ts'

interface LimitSettings {
  /** MODE=development: one developer uses the publishable keys, and not the public. */
  isDevelopment: boolean
  /** RATE_LIMIT_FACTOR */
  factor: number
}

export function createLimitOf({ isDevelopment, factor }: LimitSettings): LimitOf {
  const scaled = ({ perSecond, burst }: Rate): Rate => ({
    perSecond: perSecond * factor,
    burst: Math.max(1, Math.floor(burst * factor)),
  })
  const publishable = isDevelopment ? SANDBOX_LIMITS.developmentPublishableRate : SANDBOX_LIMITS.publishableRate
  const rates = {
    emergency: scaled(EMERGENCY_RATE),
    emergencyOfAccount: scaled(EMERGENCY_ACCOUNT_RATE),
    session: scaled(SESSION_RATE),
    directory: scaled(DIRECTORY_RATE),
    key: scaled(SANDBOX_LIMITS.rate),
    sandbox: scaled(SANDBOX_LIMITS.accountRate),
    publishable: scaled(publishable),
    developer: scaled(PLAN_LIMITS.developer.rate),
    growth: scaled(PLAN_LIMITS.growth.rate),
    enterprise: scaled(PLAN_LIMITS.enterprise.rate),
  }
  const limit = (name: Limit['name'], subject: string, rate: Rate, what: string): Limit => ({
    name,
    subject,
    rate,
    detail: `${what} at most ${rate.perSecond} requests a second, and ${rate.burst} at once.`,
  })

  return (caller, { isEmergency }) => {
    const subject = subjectOf(caller)
    const { principal, plan, accountId, environment } = caller
    if (isEmergency) {
      // The principal's own limit is taken first, so that a stolen key can't use up what its owner needs to revoke it.
      const own = limit('emergency', subject, rates.emergency, 'In an emergency each caller sends')
      if (principal.kind === 'session' || !caller.isAccountBearing) return own
      const together = 'In an emergency all keys of an account together send'
      return { ...own, within: limit('emergency', `account:${accountId}`, rates.emergencyOfAccount, together) }
    }
    // A page of the dashboard asks for a dozen pictures at once, and traffic by keys must not lock its users out.
    if (principal.kind === 'session') return limit('user', subject, rates.session, 'Each user sends')
    if (principal.kind === 'directory') {
      const own = limit('directory', subject, rates.directory, 'Each token of a directory sends')
      return { ...own, within: limit('account', accountId, rates[plan], `On the plan ${plan} an account sends`) }
    }
    if (!caller.isAccountBearing) {
      return limit('address', subject, rates.publishable, 'With the publishable sandbox keys each address sends')
    }
    if (environment === 'live') return limit('account', accountId, rates[plan], `On the plan ${plan} an account sends`)
    const together = 'In the sandbox all keys of an account together send'
    return {
      ...limit('key', subject, rates.key, 'In the sandbox each key sends'),
      within: limit('account', `sandbox:${accountId}`, rates.sandbox, together),
    }
  }
}

function subjectOf({ principal, isAccountBearing, origin }: Caller): string {
  if (principal.kind === 'session') return principal.userId
  if (principal.kind === 'directory') return principal.tokenId
  // Strangers share the publishable keys.
  return isAccountBearing ? principal.keyId : addressBlock(origin?.ip ?? '')
}
