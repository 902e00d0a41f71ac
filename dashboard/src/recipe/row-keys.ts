// j and k move through the rows of a list, Enter opens one. No key decides anything.

import { useEffect, useState } from 'react'

const TYPING = 'input, textarea, select, [contenteditable], [role="dialog"], [role="menu"], [role="listbox"]'

export function useRowKeys(count: number, open: (index: number) => void) {
  const [current, setCurrent] = useState(-1)
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return
      if (event.target instanceof Element && event.target.closest(TYPING) !== null) return
      if (event.key === 'j' || event.key === 'k') {
        const next = Math.min(Math.max(current + (event.key === 'j' ? 1 : -1), 0), count - 1)
        setCurrent(next)
        document.querySelectorAll('tbody tr')[next]?.scrollIntoView({ block: 'nearest' })
      } else if (event.key === 'Enter' && current >= 0) {
        // Of a link or button that has the focus, Enter is a click.
        if (event.target instanceof Element && event.target.closest('a, button') !== null) return
        open(current)
      }
    }
    window.addEventListener('keydown', listen)
    return () => window.removeEventListener('keydown', listen)
  }, [current, count, open])
  return { current, setCurrent }
}
