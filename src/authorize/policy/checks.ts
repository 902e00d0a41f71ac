// What the schema of a policy can't express: which forms a condition has, which fields and values a comparison takes.

import type { z } from 'zod'
import type { FieldErrorCode } from '#src/field-errors.ts'
import { compareNumbers, isNumeric } from './comparisons.ts'
import type { Operator, PolicyCondition } from './document.ts'
import { findField, isTimezone, mayNameElement, problemOfPath, RESERVED_NAMES, TIME_FIELDS } from './fields.ts'
import { depthOf, formOf, type Part, partsOf } from './forms.ts'

type Context = z.RefinementCtx

/** Levels of combinators and quantifiers around a comparison. */
export const MAX_DEPTH = 5
const NUMERIC: readonly (Operator | undefined)[] = ['gt', 'gte', 'lt', 'lte']
const LISTS: readonly (Operator | undefined)[] = ['in', 'not_in']
const TEXTS: readonly (Operator | undefined)[] = ['starts_with', 'matches']

/** One level of a condition: its operands are checked by themselves. */
export function checkCondition(condition: PolicyCondition, context: Context): void {
  const { all, any, not, field, op, value, timezone } = condition
  const forms = [all, any, not, field].filter((one) => one !== undefined).length
  if (forms !== 1) {
    refuse(context, [], 'invalid_condition', 'must have exactly one of all, any, not and field')
    return
  }
  const form = formOf(condition)
  if (form.kind === 'quantifier') checkList(form.quantifier.in, [form.isEvery ? 'all' : 'any', 'in'], context)
  if (field === undefined) {
    for (const [name, given] of Object.entries({ op, value, timezone })) {
      if (given !== undefined) refuse(context, [name], 'unknown_field', 'belongs to a comparison, beside field')
    }
    return
  }
  if (op === undefined) refuse(context, ['op'], 'required', 'is required')
  const found = findField(field)
  if (found === undefined && !mayNameElement(field)) refusePath(context, ['field'], problemOfPath(field))
  if (timezone !== undefined) checkTimezone(field, timezone, context)
  if (op !== undefined) checkValue(op, value, context)
  if (op !== undefined && found !== undefined) checkKind(op, value, found.kind, context)
}

/** What depends on several levels of a condition. */
export function checkRule(
  rule: { when: PolicyCondition; on_missing?: 'match' | undefined; require: { deny?: true | undefined } },
  context: Context,
): void {
  if (depthOf(rule.when) > MAX_DEPTH) {
    refuse(context, ['when'], 'too_deep', `must have at most ${MAX_DEPTH} levels of all, any and not`)
  }
  if (rule.on_missing !== undefined && rule.require.deny === undefined) {
    refuse(context, ['on_missing'], 'invalid_value', 'is for rules that deny')
  }
  for (const part of partsOf(rule.when, ['when'])) {
    const { path, pointer } = namedPath(part)
    // Others were checked with their own level.
    if (mayNameElement(path)) refusePath(context, pointer, problemOfPath(path, part.aliases))
    if (part.quantifier !== undefined) checkAlias(part.quantifier.as, part, context)
  }
}

/** Fields of a stored rule that this version does not have. Pointers are into the document. */
export function* unknownFieldsOf(
  { when }: { when: PolicyCondition },
  ruleIndex: number,
): Generator<{ pointer: string; detail: string }> {
  for (const part of partsOf(when, ['rules', ruleIndex, 'when'])) {
    const { path, pointer } = namedPath(part)
    const detail = problemOfPath(path, part.aliases)
    if (detail !== undefined) yield { pointer: `/${pointer.join('/')}`, detail }
  }
}

// What a comparison or a quantifier reads.
function namedPath({ condition, quantifier, path }: Part): { path: string; pointer: (string | number)[] } {
  if (quantifier !== undefined) return { path: quantifier.in, pointer: [...path, 'in'] }
  return { path: condition.field ?? '', pointer: [...path, 'field'] }
}

function checkList(path: string, pointer: (string | number)[], context: Context): void {
  const kind = findField(path)?.kind
  if (kind !== undefined && kind !== 'any') refuse(context, pointer, 'invalid_value', `is a ${kind}, and no list`)
  else if (kind === undefined && !mayNameElement(path)) refusePath(context, pointer, problemOfPath(path))
}

function checkAlias(alias: string, { path, aliases }: Part, context: Context): void {
  const pointer = [...path, 'as']
  if (RESERVED_NAMES.includes(alias)) {
    refuse(context, pointer, 'invalid_value', 'must not be the first name of a field of policies')
  } else if (aliases.includes(alias)) {
    refuse(context, pointer, 'duplicate', 'is what a quantifier around this one calls its elements')
  } else if (!mayNameElement(alias)) {
    refuse(context, pointer, 'invalid_value', 'must not be a name that the language reserves')
  }
}

function checkTimezone(field: string, timezone: string, context: Context): void {
  if (!TIME_FIELDS.some((one) => one === field)) {
    refuse(context, ['timezone'], 'invalid_value', `is for ${TIME_FIELDS.join(' and ')}`)
  } else if (!isTimezone(timezone)) {
    refuse(context, ['timezone'], 'invalid_value', 'must be a zone of the IANA database, such as Europe/Berlin')
  }
}

function checkValue(op: Operator, value: PolicyCondition['value'], context: Context): void {
  const wrong = (detail: string, path: (string | number)[] = ['value']) => {
    refuse(context, path, 'invalid_value', detail)
  }
  if (op === 'exists') {
    if (value !== undefined && typeof value !== 'boolean') wrong('must be true or false')
    return
  }
  if (value === undefined) {
    refuse(context, ['value'], 'required', 'is required')
    return
  }
  if (op === 'between') {
    const [low, high] = Array.isArray(value) ? value : []
    if (!Array.isArray(value) || value.length !== 2 || !isNumeric(low) || !isNumeric(high)) {
      wrong('must be two numbers or decimal strings')
    } else if (compareNumbers(low, high) > 0) wrong('must not begin with the larger number')
    return
  }
  if (LISTS.includes(op)) {
    if (!Array.isArray(value)) wrong('must be a list')
    else if (new Set(value.map((one) => typeof one)).size > 1) wrong('must be a list of values of one type')
    return
  }
  if (Array.isArray(value)) wrong('must be one value')
  else if (NUMERIC.includes(op) && !isNumeric(value)) wrong('must be a number or a decimal string')
  else if (TEXTS.includes(op) && typeof value !== 'string') wrong('must be a string')
}

// A comparison that can only be a type error would refuse every action.
function checkKind(op: Operator, value: PolicyCondition['value'], kind: string, context: Context): void {
  if (kind === 'any' || op === 'exists' || value === undefined) return
  const [sample] = Array.isArray(value) ? value : [value]
  const isFitting: Record<string, boolean> = {
    string: typeof sample === 'string' && !NUMERIC.includes(op) && op !== 'between',
    number:
      (typeof sample === 'number' && op !== 'contains') ||
      (isNumeric(sample) && (NUMERIC.includes(op) || op === 'between')),
    boolean: typeof sample === 'boolean' && op !== 'contains',
  }
  if (isFitting[kind] === false) refuse(context, ['op'], 'invalid_value', `does not compare a ${kind} with this value`)
}

function refusePath(context: Context, path: (string | number)[], problem: string | undefined): void {
  if (problem !== undefined) refuse(context, path, 'unknown_policy_field', problem)
}

function refuse(context: Context, path: (string | number)[], code: FieldErrorCode, message: string): void {
  context.addIssue({ code: 'custom', path, message, params: { code } })
}
