// Buttons that rest: they work when a person has had the time to see what they are about. A click that was meant for another
// window, which opened this one or lay above it, must decide nothing.

import { useEffect, useRef, useState } from 'react'

const READING_MS = 1_000

interface Rest {
  isResting: boolean
  /** The same at this moment: a click can come before the buttons are painted again. */
  isRestingNow(): boolean
}

/** Rests for a second after the window got the focus, and after another subject is shown. */
export function useRest(subject: string): Rest {
  const [rested, setRested] = useState<string>()
  const current = useRef<string>(undefined)
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const change = (next: string | undefined) => {
      current.current = next
      setRested(next)
    }
    const rest = () => {
      clearTimeout(timer)
      change(undefined)
      timer = setTimeout(() => change(subject), READING_MS)
    }
    rest()
    for (const event of ['focus', 'pageshow']) window.addEventListener(event, rest)
    return () => {
      clearTimeout(timer)
      for (const event of ['focus', 'pageshow']) window.removeEventListener(event, rest)
    }
  }, [subject])
  return { isResting: rested !== subject, isRestingNow: () => current.current !== subject }
}
