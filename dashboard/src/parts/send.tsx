// Changes that are sent once: the same content has the same Idempotency-Key, so that a double click and a repetition after
// a failure are one act.

import { Text } from '@mantine/core'
import { useEffect, useRef, useState } from 'react'

// A person who sees nothing for longer presses again.
const SLOW_MS = 3_000

/** @returns what gives the key of a content; `renew` after an answer, as the same content is then another act. */
export function useOnceKey() {
  const known = useRef<{ content: string; key: string } | undefined>(undefined)
  return {
    keyOf(content: unknown): string {
      const text = JSON.stringify(content)
      if (known.current?.content !== text) known.current = { content: text, key: newKey() }
      return known.current.key
    },
    renew(): void {
      known.current = undefined
    },
  }
}

/**
 * @returns what starts an act unless it runs: the second press of a double click comes before the page shows that it waits,
 * and its refusal would hide the answer to the first. `end` when it has ended.
 */
export function useOneAtATime() {
  const isRunning = useRef(false)
  return {
    start(act: () => void): void {
      if (isRunning.current) return
      isRunning.current = true
      act()
    },
    end(): void {
      isRunning.current = false
    },
  }
}

function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return `page_${Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}`
}

/** Says that an answer takes long, and that waiting is safe. */
export function StillWaiting({ isPending }: { isPending: boolean }) {
  const [isSlow, setIsSlow] = useState(false)
  useEffect(() => {
    if (!isPending) return
    const timer = setTimeout(() => setIsSlow(true), SLOW_MS)
    return () => {
      clearTimeout(timer)
      setIsSlow(false)
    }
  }, [isPending])
  return (
    <Text size="sm" c="dimmed" role="status">
      {isSlow ? 'The service has not answered yet. It is asked again by itself, and nothing is sent twice.' : ''}
    </Text>
  )
}
