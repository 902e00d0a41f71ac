import { JsonError } from '#client/verify/strict-json.ts'
import { Failure } from '#src/failure.ts'
import { canonicalize, parseJson } from '#src/platform/crypto/canonical.ts'
import type { Answers } from '../answers.ts'
import { makeValue } from '../host-values.ts'
import { findDeviation, refusalInPieces } from '../scans.ts'

const LIMITS = { maxBytes: 65_536, maxDepth: 32 }

export interface JsonInput {
  json?: string
  hex?: string
}

export interface JsonRefusal {
  code: string
  pointer: string
  offset?: number
}

export const answers: Answers = {
  'canonical/accepted'({ json = '' }: JsonInput) {
    const value = parseJson(Buffer.from(json), LIMITS)
    const deviation = findDeviation(json, value)
    if (deviation !== undefined) return { deviation }
    const canonical = canonicalize(value)
    const again = canonicalize(parseJson(Buffer.from(canonical), LIMITS))
    return again === canonical ? { canonical } : { canonical: again }
  },

  'canonical/refused'({ json = '', hex }: JsonInput, { offset }: JsonRefusal) {
    const bytes = hex === undefined ? Buffer.from(json) : Buffer.from(hex, 'hex')
    try {
      return canonicalize(parseJson(bytes, LIMITS))
    } catch (error) {
      if (!(error instanceof Failure) || error.code !== 'invalid_json') throw error
      const [{ code, pointer } = { code: '', pointer: '' }] = error.errors ?? []
      const inPieces = code === 'invalid_utf8' ? { code, pointer } : refusalInPieces(bytes.toString())
      if (inPieces?.code !== code || inPieces.pointer !== pointer) return { inPieces }
      const place = Number(/\bbyte (\d+)\b/.exec(error.message)?.[1])
      return { code, pointer, ...(offset !== undefined && { offset: place }) }
    }
  },

  // The service refuses all of them alike. Integers from 2^53 on it refuses where it parses, which all its values come from.
  'canonical/values'({ value }: { value: string }, expected: unknown) {
    if (value.startsWith('integer_')) return expected
    try {
      return { canonical: canonicalize(makeValue(value)) }
    } catch (error) {
      return error instanceof JsonError ? expected : error
    }
  },
}
