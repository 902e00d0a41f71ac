// Refreshing by itself is for a person who looks: each request extends the idle limit of the session, and a page that
// always asked would never be signed out.

import { useEffect, useState } from 'react'

const ACTIVE_MS = 5 * 60_000
let lastInput = Date.now()
for (const type of ['pointerdown', 'keydown', 'wheel', 'touchstart'] as const) {
  window.addEventListener(
    type,
    () => {
      lastInput = Date.now()
    },
    { passive: true, capture: true },
  )
}

export function isActive(): boolean {
  return document.visibilityState === 'visible' && Date.now() - lastInput < ACTIVE_MS
}

/** For `refetchInterval`: the interval while a person uses the page, else false. */
export function whileActive(milliseconds: number): () => number | false {
  return () => (isActive() ? milliseconds : false)
}

/** The time, again each `everyMs`, for what shows how long ago something was. */
export function useNow(everyMs = 30_000): number {
  const [now, setNow] = useState(() => Date.now())
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs)
    return () => clearInterval(timer)
  }, [everyMs])
  return now
}
