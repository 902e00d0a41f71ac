// What a person writes and has not sent, in this tab: it outlives a reload, the end of the session and an upgrade of the
// service. Each user and object has a draft of its own.

import { useCallback, useState } from 'react'
import { useSession } from '../app/session.tsx'

type Fields = Record<string, string>

/** @param object What the draft is about, such as an id. @param empty The fields without a draft. */
export function useDraft<Draft extends Fields>(object: string, empty: Draft) {
  const { session, environment } = useSession()
  const key = `countersign.draft.${session.user.userId}.${environment}.${object}`
  const [held, setHeld] = useState(() => ({ key, draft: read(key, empty) }))
  // Another object on the same page has another draft.
  const draft = held.key === key ? held.draft : read(key, empty)

  const change = useCallback(
    (fields: Partial<Draft>) =>
      setHeld((current) => {
        const next = { ...(current.key === key ? current.draft : read(key, empty)), ...fields }
        write(key, next)
        return { key, draft: next }
      }),
    [key, empty],
  )
  const clear = useCallback(() => {
    write(key, undefined)
    setHeld({ key, draft: empty })
  }, [key, empty])
  return { draft, change, clear }
}

function read<Draft extends Fields>(key: string, empty: Draft): Draft {
  try {
    const kept: unknown = JSON.parse(window.sessionStorage.getItem(key) ?? 'null')
    if (typeof kept !== 'object' || kept === null) return empty
    const fields = Object.entries(kept).filter(([name, value]) => name in empty && typeof value === 'string')
    return { ...empty, ...Object.fromEntries(fields) }
  } catch {
    // A browser that keeps nothing, or a draft that an older page wrote.
    return empty
  }
}

function write(key: string, draft: Fields | undefined): void {
  try {
    if (draft === undefined) window.sessionStorage.removeItem(key)
    else window.sessionStorage.setItem(key, JSON.stringify(draft))
  } catch {
    // A browser that keeps nothing: the text stays on the page.
  }
}
