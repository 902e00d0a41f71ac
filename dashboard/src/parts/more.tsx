import { Button } from '@mantine/core'
import type { ReactNode } from 'react'

interface MoreProps {
  query: { hasNextPage: boolean; isFetchingNextPage: boolean; fetchNextPage(): Promise<unknown> }
  children: ReactNode
}

/** Asks for the next page of a list that grows downwards; nothing where there is none. */
export function More({ query, children }: MoreProps) {
  if (!query.hasNextPage) return null
  return (
    <Button size="xs" variant="subtle" loading={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
      {children}
    </Button>
  )
}
