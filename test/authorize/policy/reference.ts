// The reference of the evaluation: section by section as docs/authorize/policy.md says it, without any preparation.

import type { PolicyCondition, PolicyDocument, PolicyRule } from '#src/authorize/policy/document.ts'
import type { PolicyAnswers, PolicyFacts } from '#src/authorize/policy/evaluate.ts'
import type { Json } from '#src/platform/crypto/canonical.ts'

/** Refusals as `reason rule`, in the published order. */
export function refer(policy: PolicyDocument, of: PolicyFacts, answered: PolicyAnswers): string[] {
  const refused: { rank: number; unanswered?: boolean; priority: number; id: string; reason: string }[] = []
  const given = (sources: (Json | undefined)[]) => sources.filter((one) => one !== undefined && one !== null)
  const flag = given([of.context.require_biometric, of.action_payload.require_biometric])
  const { transaction_amount: sum, amount } = of.action_payload
  const amounts = given([of.context.transaction_amount, sum, amount])
  const isMalformed = !flag.includes(true) && flag.some((one) => one !== false)
  if (isMalformed || (flag.includes(true) && !of.token.biometric)) {
    refused.push({ rank: -2, priority: 0, id: 'default:biometric_flag', reason: 'biometric_required' })
  }
  const isAttested = of.device.enrolled && ['tee', 'strongbox', 'secure_enclave'].includes(of.device.tier)
  if (amounts.some((one) => !isNumber(one)) || (amounts.some((one) => Number(one) > 500) && !isAttested)) {
    refused.push({ rank: -1, priority: 0, id: 'default:hardware_above', reason: 'hardware_required_above_500' })
  }
  for (const rule of policy.rules.filter(({ enabled, shadow }) => enabled && !shadow)) {
    const truth = holds(rule.when, of, rule.require.deny === true)
    if (truth === false) continue
    for (const { rank, reason } of unmet(rule, of, answered, truth === 'error')) {
      const unanswered = reason === 'canary_unavailable' || reason === 'policy_webhook_unavailable'
      refused.push({ rank, unanswered, priority: rule.priority, id: rule.id, reason: rule.reason ?? reason })
    }
  }
  const before = (a: string, b: string) => (a < b ? -1 : Number(a > b))
  const late = ({ unanswered }: (typeof refused)[number]) => Number(unanswered ?? false)
  return refused
    .sort((a, b) => a.rank - b.rank || late(a) - late(b) || a.priority - b.priority || before(a.id, b.id))
    .map(({ reason, id }) => `${reason} ${id}`)
}

function unmet({ id, require: wanted }: PolicyRule, of: PolicyFacts, given: PolicyAnswers, isFailed: boolean) {
  const tiers = ['none', 'software', 'tee', 'strongbox']
  const level = of.device.enrolled ? tiers.indexOf(of.device.tier) : 0
  const canary = given.canaries[id] ?? 'unavailable'
  const webhook = given.webhooks[id] ?? 'unavailable'
  const unread = canary === 'unavailable' || (!canary.tripped && canary.source === 'client')
  const isCanaryMet = unread ? wanted.canary?.mode === 'best_effort' : !canary.tripped
  const isAnswered = typeof webhook === 'object' && 'decision' in webhook
  const webhookCode = !isAnswered || isFailed ? 'policy_webhook_unavailable' : 'policy_webhook_denied'
  return [
    { is: wanted.deny, met: false, rank: 0, reason: 'policy_denied' },
    { is: wanted.biometric, met: of.token.biometric, rank: 1, reason: 'policy_biometric_required' },
    { is: wanted.hardware, met: level >= 2, rank: 2, reason: 'policy_hardware_required' },
    {
      is: wanted.min_tier,
      met: level >= tiers.indexOf(wanted.min_tier ?? ''),
      rank: 3,
      reason: 'policy_tier_required',
    },
    {
      is: wanted.canary,
      met: isCanaryMet,
      rank: 4,
      reason: unread || isFailed ? 'canary_unavailable' : 'canary_tripped',
    },
    {
      is: wanted.webhook,
      met: isAnswered && webhook.decision === 'allow',
      rank: 5,
      reason: webhookCode,
    },
  ].filter(({ is, met }) => is !== undefined && (isFailed || !met))
}

// `deny`: in a rule that denies, a missing field differs from every value.
function holds(condition: PolicyCondition, of: PolicyFacts, deny: boolean, item?: Json): boolean | 'error' {
  const { all, any, not, field = '', op, value: constant } = condition
  if (not !== undefined) {
    const inner = holds(not, of, deny, item)
    return inner === 'error' ? inner : !inner
  }
  const deciding = any !== undefined
  const over = all ?? any
  if (over !== undefined) {
    const outcomes: (boolean | 'error')[] = []
    if (Array.isArray(over)) outcomes.push(...over.map((one) => holds(one, of, deny, item)))
    else {
      const found = read(over.in, of)
      if (found === undefined) return false
      if (!Array.isArray(found)) return 'error'
      outcomes.push(...found.map((element) => holds(over.when, of, deny, element)))
    }
    if (outcomes.includes(deciding)) return deciding
    return outcomes.includes('error') ? 'error' : !deciding
  }
  const found = field.startsWith('item') ? readItem(field, item) : read(field, of)
  if (op === 'exists') return (found !== undefined) === (constant ?? true)
  if (found === undefined) return deny && (op === 'ne' || op === 'not_in')
  const list = (Array.isArray(constant) ? constant : [constant]) as Json[]
  const [first = null] = list
  const order = (to: Json | undefined) => (isNumber(found) && isNumber(to) ? Number(found) - Number(to) : Number.NaN)
  const compared = (outcome: boolean) => (isNumber(found) ? outcome : 'error')
  const equal = (a: Json, b: Json): boolean | 'error' => {
    if (typeof b === 'boolean') return typeof a === 'boolean' ? a === b : 'error'
    if (typeof b === 'number') return isNumber(a) ? Number(a) === b : 'error'
    if (typeof a === 'string') return a === b
    return typeof a === 'number' && isNumber(b) ? a === Number(b) : 'error'
  }
  const negated = (outcome: boolean | 'error') => (outcome === 'error' ? outcome : !outcome)
  const oneOf = () => {
    const outcomes = list.map((one) => equal(found, one))
    return outcomes.includes(true) ? true : outcomes.includes(false) ? false : 'error'
  }
  switch (op) {
    case 'eq':
      return equal(found, first)
    case 'ne':
      return negated(equal(found, first))
    case 'in':
      return oneOf()
    case 'not_in':
      return negated(oneOf())
    case 'gt':
      return compared(order(first) > 0)
    case 'gte':
      return compared(order(first) >= 0)
    case 'lt':
      return compared(order(first) < 0)
    case 'lte':
      return compared(order(first) <= 0)
    case 'between':
      return compared(order(first) >= 0 && order(list[1]) <= 0)
    case 'contains':
      if (typeof found === 'string' && typeof first === 'string') return found.includes(first)
      return Array.isArray(found) ? found.some((one) => equal(one, first) === true) : 'error'
    case 'starts_with':
      return typeof found === 'string' ? found.startsWith(String(first)) : 'error'
    default:
      return typeof found === 'string' ? found.includes(String(first)) : 'error'
  }
}

function readItem(field: string, item: Json | undefined): Json | undefined {
  if (field === 'item') return item ?? undefined
  if (typeof item !== 'object' || item === null || Array.isArray(item)) return undefined
  return item.x ?? undefined
}

function read(field: string, of: PolicyFacts): Json | undefined {
  if (field === 'time.hour') return new Date(of.at).getUTCHours()
  if (field === 'token.biometric') return of.token.biometric
  if (field === 'action_type') return of.action_type ?? undefined
  if (field === 'context.transaction_amount') {
    const given = [of.context.transaction_amount, of.action_payload.amount].flatMap((one) =>
      one === null || one === undefined ? [] : [one],
    )
    return given.find((one) => !isNumber(one)) ?? given.toSorted((a, b) => Number(b) - Number(a))[0]
  }
  return of.context[field.replace('context.', '')] ?? undefined
}

function isNumber(found: Json | undefined): boolean {
  return typeof found === 'number' || (typeof found === 'string' && /^-?(0|[1-9]\d*)(\.\d+)?$/.test(found))
}
