// Which paths conditions may name. A rule on a name that does not exist would never apply, so each is refused by name.

import { describe, expect, it } from 'vitest'
import { documentSchema } from '#src/authorize/policy/document.ts'
import { parseWith } from '#src/platform/http/validate.ts'

const refusalsOf = (when: unknown) => {
  const draft = { rules: [{ id: 'r', when, require: { deny: true } }] }
  const parsed = parseWith(documentSchema, draft, 'body')
  return parsed.ok ? [] : parsed.errors
}
const refusalOf = (field: string) => refusalsOf({ field, op: 'exists' })

const KNOWN = {
  agent: ['id', 'name', 'owner', 'status', 'metadata.team', 'metadata.team.lead'],
  device: ['id', 'tier', 'enrolled'],
  session: ['id', 'status', 'agent_id', 'created_at'],
  mandate: [
    ...['id', 'root_id', 'depth', 'principal', 'agent_id', 'timezone', 'currency', 'min_amount', 'max_amount'],
    ...[
      'budget_limit',
      'budget_period',
      'budget_max_count',
      'remaining',
      'remaining_count',
      'not_before',
      'expires_at',
    ],
  ],
  schedule: [
    ...['id', 'status', 'counterparty', 'amount_type', 'amount', 'currency', 'frequency', 'timezone', 'window_seconds'],
    ...['occurrences', 'used', 'remaining', 'cycle', 'cycle_opens_at', 'cycle_closes_at'],
  ],
  canary: ['tripped', 'families', 'scores.deception', 'set', 'source', 'reading_at'],
  token: ['biometric'],
  time: ['hour', 'weekday'],
}
const NAMESPACES = Object.entries(KNOWN)

describe('the fields of a policy', () => {
  it.each(NAMESPACES)('of %s are the listed ones', (namespace, members) => {
    for (const member of members) expect(refusalOf(`${namespace}.${member}`), member).toEqual([])
  })

  it.each(NAMESPACES)('of %s are no others: each is refused by name, with those that exist', (namespace, members) => {
    const [first = ''] = members
    const unknown = [
      ...members.flatMap((member) => [`${member}r`, member.slice(0, -1), member.toUpperCase(), ` ${member}`]),
      ...['nonsense', 'tierr', 'metadata', 'scores', 'families.0', 'toString', 'length', `${first}.x`],
    ].filter((member) => !members.includes(member) && !/^(?:metadata|scores)\./.test(member))
    for (const member of unknown) {
      const [refusal, ...others] = refusalOf(`${namespace}.${member}`)
      expect(refusal, member).toMatchObject({ pointer: '/rules/0/when/field', code: 'unknown_policy_field' })
      expect(refusal?.detail, member).toContain(first)
      expect(others).toEqual([])
    }
    expect(refusalOf(namespace)).toMatchObject([{ code: 'unknown_policy_field' }])
    expect(refusalOf(`${namespace}.`)).toMatchObject([{ code: 'unknown_policy_field' }])
  })

  it('below what accounts and agents write are open', () => {
    for (const field of ['context.x', 'action_payload.items.0.sku', 'context.a b', 'context.toString', 'context.ü-~']) {
      expect(refusalOf(field), field).toEqual([])
    }
  })

  it('have no wildcards, brackets, slashes, empty parts or names of the language, wherever they stand', () => {
    const parts = ['*', '**', 'items[0]', 'items[*]', '[', ']', 'a/b', '/a', '', '\u0000', '__proto__', 'prototype']
    for (const root of ['context', 'action_payload', 'agent.metadata', 'canary.scores', 'device', 'item']) {
      for (const part of [...parts, 'constructor', 'a'.repeat(101)]) {
        for (const field of [`${root}.${part}`, `${root}.${part}.x`, `${root}.x.${part}`]) {
          expect(refusalOf(field), field).toMatchObject([
            { pointer: '/rules/0/when/field', code: 'unknown_policy_field' },
          ])
        }
      }
    }
    for (const field of [
      '',
      '.',
      '*',
      'context',
      '/context/x',
      '$.context.x',
      'Context.x',
      '__proto__.x',
      'user.name',
    ]) {
      expect(refusalOf(field), field).toMatchObject([{ code: 'unknown_policy_field' }])
    }
    expect(refusalOf(`context${'.x'.repeat(11)}`)).toMatchObject([{ code: 'unknown_policy_field' }])
  })

  it('are refused all at once, each with its pointer', () => {
    const when = { all: [{ field: 'device.tierr', op: 'exists' }, { not: { field: 'nowhere', op: 'exists' } }] }
    expect(refusalsOf(when).map(({ pointer }) => pointer)).toEqual([
      '/rules/0/when/all/0/field',
      '/rules/0/when/all/1/not/field',
    ])
  })

  it('are the only names: unknown members of conditions, rules and requirements are refused by name', () => {
    const x = { field: 'context.x', op: 'exists' }
    const members: [object, string][] = [
      [{ rules: [], mode: 1 }, '/mode'],
      [{ default_rules: { biometric: true } }, '/default_rules/biometric'],
      [{ rules: [{ id: 'r', when: x, requires: {}, require: { deny: true } }] }, '/rules/0/requires'],
      [{ rules: [{ id: 'r', when: { ...x, negate: true }, require: { deny: true } }] }, '/rules/0/when/negate'],
      [
        { rules: [{ id: 'r', when: { all: [{ ...x, value_type: 1 }] }, require: { deny: true } }] },
        '/rules/0/when/all/0/value_type',
      ],
      [{ rules: [{ id: 'r', require: { deny: true, log: true } }] }, '/rules/0/require/log'],
      [{ rules: [{ id: 'r', require: { approval: { approvals: 2 } } }] }, '/rules/0/require/approval/approvals'],
      [
        { rules: [{ id: 'r', require: { webhook: { url: 'https://a.example', retries: 2 } } }] },
        '/rules/0/require/webhook/retries',
      ],
    ]
    for (const [document, pointer] of members) {
      const parsed = parseWith(documentSchema, document, 'body')
      expect(parsed.ok ? [] : parsed.errors).toMatchObject([{ pointer, code: 'unknown_field' }])
    }
  })
})
