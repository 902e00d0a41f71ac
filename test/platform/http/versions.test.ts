import { describe, expect, it } from 'vitest'
import { checkVersion } from '#src/platform/http/documents.ts'
import { parseIfMatch } from '#src/platform/http/request-headers.ts'
import { replyVersioned } from '#src/platform/http/versions.ts'

const tagOf = (view: { version: number }) => replyVersioned(view).headers?.ETag ?? ''

describe('the ETag of a versioned answer', () => {
  it('changes with each member, while If-Match compares the version in it', () => {
    const [before, used, changed] = [
      tagOf({ version: 3, name: 'a', used: 0 } as never),
      tagOf({ version: 3, name: 'a', used: 1 } as never),
      tagOf({ version: 4, name: 'b', used: 1 } as never),
    ]
    expect(new Set([before, used, changed]).size).toBe(3)
    expect([before, used, changed].map(parseIfMatch)).toEqual([[3], [3], [4]])
    for (const tag of [before, used]) expect(() => checkVersion(parseIfMatch(tag), { version: 3 })).not.toThrow()
    expect(() => checkVersion(parseIfMatch(before), { version: 4 })).toThrow(
      expect.objectContaining({ code: 'precondition_failed' }),
    )
  })

  it('stands in If-Match for its version, written whole or as the version alone', () => {
    expect(parseIfMatch('"3"')).toEqual([3])
    expect(parseIfMatch(` ${tagOf({ version: 12 })} , "4"`)).toEqual([12, 4])
    expect([undefined, '*'].map(parseIfMatch)).toEqual([undefined, undefined])
    for (const wrong of [`W/${tagOf({ version: 1 })}`, '"3-"', '"-abc"', '3', '"3-a b"', `"3-${'a'.repeat(44)}"`]) {
      expect(() => parseIfMatch(wrong), wrong).toThrow(expect.objectContaining({ code: 'invalid_request' }))
    }
  })
})
