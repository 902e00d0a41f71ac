// The pages for people without a session: where links of mails and identity providers lead. They stand outside of /app, and each reads
// its secret out of the address, which is gone from it at once: it must not stay in the history.

import { Anchor, Container, Stack, Text, Title } from '@mantine/core'
import { type ComponentType, type LazyExoticComponent, lazy, type ReactNode } from 'react'

const PAGES: Record<string, LazyExoticComponent<ComponentType>> = {
  '/login/link': lazy(() => import('./sign-in.tsx')),
  '/login/invite': lazy(() => import('./invite.tsx')),
  '/login/sso': lazy(() => import('./single-sign-on.tsx')),
  '/share': lazy(() => import('./share.tsx')),
}

/** The page of an address; undefined where it is one of the router. */
export function entryOf(pathname: string): LazyExoticComponent<ComponentType> | undefined {
  return PAGES[pathname.replace(/\/$/, '')]
}

interface FrameProps {
  title: string
  /** What happened, or what is to be done: read aloud when it changes. */
  message?: string
  children?: ReactNode
}

export function Frame({ title, message = '', children }: FrameProps) {
  return (
    <Container size={560} py="xl" component="main">
      <Stack>
        <Text size="sm" c="dimmed">
          Countersign
        </Text>
        <Title order={1} size="h3">
          {title}
        </Title>
        <Text role="status" aria-live="polite" mih="1.5em" style={{ overflowWrap: 'anywhere' }}>
          {message}
        </Text>
        {children}
        <Anchor href="/docs" size="sm">
          Guides
        </Anchor>
      </Stack>
    </Container>
  )
}

const SECRET = /^#([A-Za-z0-9_-]{43})(&app)?$/

export interface LinkSecret {
  token: string | undefined
  /** The link of a terminal, which leads on to the dashboard once it has signed in. */
  isOnward: boolean
}

/** Takes the token of a link out of the address. */
export function takeToken(): LinkSecret {
  const [, token, onward] = SECRET.exec(window.location.hash) ?? []
  window.history.replaceState(null, '', window.location.pathname)
  return { token, isOnward: onward !== undefined }
}
