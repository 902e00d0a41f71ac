import { expect } from 'vitest'
import type { TestAnswer } from '../../support/http.ts'
import type { Service } from './service.ts'

interface Refusal {
  status: number
  code: string
  pointer?: string
  /** The code of the error at `pointer`. */
  finding?: string
}

/** Expects an answer that says what is wrong and where, after which every row is unchanged. */
export async function expectRefusal(
  service: Service,
  ask: () => Promise<TestAnswer>,
  { status, code, pointer, finding }: Refusal,
): Promise<void> {
  const before = await service.fingerprint()
  const answer = await ask()
  expect(`${answer.status} ${answer.json.code}`, answer.text).toBe(`${status} ${code}`)
  expect(answer.headers['content-type']).toBe('application/problem+json')
  if (pointer !== undefined) {
    expect(answer.json.errors, answer.text).toContainEqual({
      pointer,
      code: finding ?? expect.any(String),
      detail: expect.stringMatching(/\S/),
    })
  }
  expect(await service.fingerprint()).toBe(before)
}

export type Body = Record<string, unknown>

/** The value with another one at an RFC 6901 pointer; `undefined` removes the member. */
export function replaceAt(node: unknown, pointer: string, value: unknown): Body {
  return replaced(node, pointer.split('/').slice(1), value) as Body
}

function replaced(node: unknown, [key, ...rest]: string[], value: unknown): unknown {
  if (key === undefined) return value
  if (Array.isArray(node)) return node.map((item, at) => (String(at) === key ? replaced(item, rest, value) : item))
  const object = typeof node === 'object' && node !== null ? (node as Body) : {}
  return { ...object, [key]: replaced(object[key], rest, value) }
}

/** The head of a PNG: its signature and IHDR. */
export function pngOf(width: number, height: number): Buffer {
  const head = Buffer.from('89504e470d0a1a0a0000000d494844520000000000000000080200000000000000', 'hex')
  head.writeUInt32BE(width, 16)
  head.writeUInt32BE(height, 20)
  return head
}
