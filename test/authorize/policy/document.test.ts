// Which documents are refused, with the pointer and the code of each finding.

import { describe, expect, it } from 'vitest'
import { documentSchema, type PolicyCondition } from '#src/authorize/policy/document.ts'
import { parseWith } from '#src/platform/http/validate.ts'

describe('the schema of a document', () => {
  const refusalsOf = (document: unknown) => {
    const parsed = parseWith(documentSchema, document, 'body')
    return parsed.ok ? [] : parsed.errors.map(({ pointer, code }) => `${pointer} ${code}`)
  }
  const rule = (members: object) => ({ rules: [{ id: 'r', require: { deny: true }, ...members }] })
  const when = (condition: unknown) => rule({ when: condition })
  const nested = (levels: number): PolicyCondition =>
    levels === 0 ? { field: 'context.x', op: 'exists' } : { not: nested(levels - 1) }
  const some = (members: object) => ({ any: { in: 'action_payload.items', as: 'item', when: { all: [] }, ...members } })
  const chain = (levels: number, list = 'context.list'): object =>
    levels === 0
      ? { field: list, op: 'exists' }
      : { any: { in: list, as: `item${levels}`, when: chain(levels - 1, `item${levels}.list`) } }

  it.each([
    ['an unknown member', { rule: [] }, '/rule unknown_field'],
    ['an unknown member of a rule', rule({ wen: {} }), '/rules/0/wen unknown_field'],
    [
      'an unknown requirement',
      { rules: [{ id: 'r', require: { deny: true, budget: 1 } }] },
      '/rules/0/require/budget unknown_field',
    ],
    ['no requirement', { rules: [{ id: 'r', require: {} }] }, '/rules/0/require invalid_value'],
    ['deny: false', { rules: [{ id: 'r', require: { deny: false } }] }, '/rules/0/require/deny invalid_value'],
    ['two rules of one id', { rules: [...rule({}).rules, ...rule({}).rules] }, '/rules/1/id duplicate'],
    [
      'an id of the defaults',
      { rules: [{ id: 'default:hardware_above', require: { deny: true } }] },
      '/rules/0/id invalid_format',
    ],
    ['a reason in capitals', rule({ reason: 'No' }), '/rules/0/reason invalid_format'],
    ['an unknown operator', when({ field: 'context.x', op: 'like', value: 'a' }), '/rules/0/when/op invalid_value'],
    [
      'an unknown field',
      when({ field: 'user.name', op: 'eq', value: 'a' }),
      '/rules/0/when/field unknown_policy_field',
    ],
    ['a root alone', when({ field: 'context', op: 'exists' }), '/rules/0/when/field unknown_policy_field'],
    ['no form', when({}), '/rules/0/when invalid_condition'],
    ['two forms', when({ all: [], any: [] }), '/rules/0/when invalid_condition'],
    ['a value beside all', when({ all: [], value: 1 }), '/rules/0/when/value unknown_field'],
    ['a comparison without an operator', when({ field: 'context.x' }), '/rules/0/when/op required'],
    ['a comparison without a value', when({ field: 'context.x', op: 'eq' }), '/rules/0/when/value required'],
    [
      'a text to compare numbers with',
      when({ field: 'context.x', op: 'gt', value: 'many' }),
      '/rules/0/when/value invalid_value',
    ],
    ['a list for one value', when({ field: 'context.x', op: 'eq', value: [1] }), '/rules/0/when/value invalid_value'],
    ['one value for a list', when({ field: 'context.x', op: 'in', value: 1 }), '/rules/0/when/value invalid_value'],
    [
      'a list of several types',
      when({ field: 'context.x', op: 'in', value: [1, 'a'] }),
      '/rules/0/when/value invalid_value',
    ],
    [
      'a range the wrong way',
      when({ field: 'context.x', op: 'between', value: [2, 1] }),
      '/rules/0/when/value invalid_value',
    ],
    [
      'a backreference',
      when({ field: 'context.x', op: 'matches', value: '(a)\\1' }),
      '/rules/0/when/value invalid_pattern',
    ],
    [
      'a look-ahead',
      when({ field: 'context.x', op: 'matches', value: '(?=a)' }),
      '/rules/0/when/value invalid_pattern',
    ],
    [
      'repetitions that multiply',
      when({ field: 'context.x', op: 'matches', value: '((a{30}){30}){30}' }),
      '/rules/0/when/value invalid_pattern',
    ],
    [
      'a long pattern',
      when({ field: 'context.x', op: 'matches', value: 'a'.repeat(501) }),
      '/rules/0/when/value invalid_pattern',
    ],
    ['a number for a text field', when({ field: 'action_type', op: 'gt', value: 1 }), '/rules/0/when/op invalid_value'],
    [
      'an unknown zone',
      when({ field: 'time.hour', op: 'eq', value: 1, timezone: 'Mars/Base' }),
      '/rules/0/when/timezone invalid_value',
    ],
    [
      'an offset for a time zone',
      when({ field: 'time.hour', op: 'eq', value: 1, timezone: '+01:00' }),
      '/rules/0/when/timezone invalid_value',
    ],
    [
      'a time zone in other letters',
      when({ field: 'time.hour', op: 'eq', value: 1, timezone: 'eUrope/Berlin' }),
      '/rules/0/when/timezone invalid_value',
    ],
    [
      'a zone of another field',
      when({ field: 'context.x', op: 'eq', value: 1, timezone: 'UTC' }),
      '/rules/0/when/timezone invalid_value',
    ],
    ['six levels', when(nested(6)), '/rules/0/when too_deep'],
    ['six levels of quantifiers', when(chain(6)), '/rules/0/when too_deep'],
    ['a quantifier without a list', when({ any: { as: 'item', when: { all: [] } } }), '/rules/0/when/any/in required'],
    [
      'a quantifier without a name',
      when({ any: { in: 'context.x', when: { all: [] } } }),
      '/rules/0/when/any/as required',
    ],
    [
      'a quantifier without a condition',
      when({ all: { in: 'context.x', as: 'item' } }),
      '/rules/0/when/all/when required',
    ],
    ['an unknown member of a quantifier', when(some({ where: {} })), '/rules/0/when/any/where unknown_field'],
    ['a text for conditions', when({ any: 'context.x' }), '/rules/0/when/any invalid_type'],
    ['a quantifier in not', when({ not: some({}).any }), '/rules/0/when/not/in unknown_field'],
    ['a value beside a quantifier', when({ ...some({}), value: 1 }), '/rules/0/when/value unknown_field'],
    ['a list that does not exist', when(some({ in: 'canary.family' })), '/rules/0/when/any/in unknown_policy_field'],
    ['a list with a wildcard', when(some({ in: 'context.x[*]' })), '/rules/0/when/any/in unknown_policy_field'],
    ['a field that is no list', when(some({ in: 'device.tier' })), '/rules/0/when/any/in invalid_value'],
    ['an element as its own list', when(some({ in: 'item.x' })), '/rules/0/when/any/in unknown_policy_field'],
    ['a name with a dot', when(some({ as: 'item.x' })), '/rules/0/when/any/as invalid_format'],
    ['a name of the facts', when(some({ as: 'context' })), '/rules/0/when/any/as invalid_value'],
    ['the name of a text field', when(some({ as: 'action_type' })), '/rules/0/when/any/as invalid_value'],
    ['a name of the language', when(some({ as: 'constructor' })), '/rules/0/when/any/as invalid_value'],
    ['one name twice', when(some({ when: { not: some({}) } })), '/rules/0/when/any/when/not/any/as duplicate'],
    [
      'an element outside of its quantifier',
      when({ all: [some({}), { field: 'item.sku', op: 'exists' }] }),
      '/rules/0/when/all/1/field unknown_policy_field',
    ],
    [
      'an element that is misspelled',
      when(some({ when: { any: [{ field: 'items.sku', op: 'exists' }] } })),
      '/rules/0/when/any/when/any/0/field unknown_policy_field',
    ],
    [
      'a zone of an element',
      when(some({ when: { field: 'item.at', op: 'exists', timezone: 'UTC' } })),
      '/rules/0/when/any/when/timezone invalid_value',
    ],
    [
      'a pattern below a quantifier',
      when(some({ when: { field: 'item.sku', op: 'matches', value: '(' } })),
      '/rules/0/when/any/when/value invalid_pattern',
    ],
    [
      'too many quantifiers',
      {
        rules: Array.from({ length: 101 }, (_, n) => ({
          id: `r${n}`,
          require: { deny: true },
          when: { all: Array.from({ length: 100 }, () => some({})) },
        })),
      },
      '/rules too_many',
    ],
    [
      'an error deep inside',
      when({ all: [{ any: [{ not: { field: 'x', op: 'exists' } }] }] }),
      '/rules/0/when/all/0/any/0/not/field unknown_policy_field',
    ],
    [
      'on_missing without deny',
      { rules: [{ id: 'r', on_missing: 'match', require: { biometric: true } }] },
      '/rules/0/on_missing invalid_value',
    ],
    [
      'an amount with five decimals',
      { default_rules: { hardware_above: '1.00001' } },
      '/default_rules/hardware_above invalid_format',
    ],
    ['a negative amount', { default_rules: { hardware_above: -1 } }, '/default_rules/hardware_above out_of_range'],
    [
      'a patient webhook',
      { rules: [{ id: 'r', require: { webhook: { url: 'https://a.example', timeout_ms: 3_001 } } }] },
      '/rules/0/require/webhook/timeout_ms out_of_range',
    ],
    [
      'too many rules',
      { rules: Array.from({ length: 1_001 }, (_, n) => ({ id: `r${n}`, require: { deny: true } })) },
      '/rules too_many',
    ],
    [
      'too many patterns',
      {
        rules: Array.from({ length: 201 }, (_, n) => ({
          id: `r${n}`,
          require: { deny: true },
          when: { field: 'context.x', op: 'matches', value: 'a' },
        })),
      },
      '/rules too_many',
    ],
  ])('refuses %s', (_, document, finding) => {
    expect(refusalsOf(document)).toContain(finding)
  })

  it('accepts five levels, and fills in what is left out', () => {
    expect(refusalsOf(when(nested(5)))).toEqual([])
    expect(refusalsOf(when(chain(5)))).toEqual([])
    // Beside each other.
    expect(refusalsOf(when({ all: [some({}), some({})] }))).toEqual([])
    expect(documentSchema.parse({ rules: [{ id: 'r', require: { deny: true } }] })).toEqual({
      name: 'default',
      default_rules: { biometric_flag: true, hardware_above: 500 },
      rules: [{ id: 'r', priority: 100, enabled: true, shadow: false, when: { all: [] }, require: { deny: true } }],
    })
  })
})
