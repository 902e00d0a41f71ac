// Who is signed in, and what they may do in the environment of the address. Where the session ends, a person signs in
// again over the page, and nothing that they wrote is lost.

import type { Session } from '@countersign/client'
import { CountersignError } from '@countersign/client'
import { Alert, Button, Center, getDefaultZIndex, Loader, Modal, Stack, Text, TextInput } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { createContext, type FormEvent, type ReactNode, use, useEffect, useRef, useState } from 'react'
import { Failed } from '../parts/failed.tsx'
import { clientOf, type EnvironmentName } from './client.ts'
import { announceSession, onOtherTab, onSessionEnd, type SessionEnd } from './session-end.ts'

export interface Signed {
  session: Session
  environment: EnvironmentName
  /** Whether the user may do it in this environment. */
  may(permission: string): boolean
}

const Context = createContext<Signed | undefined>(undefined)

/** @throws outside of the pages that need a session. */
export function useSession(): Signed {
  const signed = use(Context)
  if (signed === undefined) throw new Error('a page needs SessionProvider around it')
  return signed
}

export function useClient() {
  return clientOf(useSession().environment)
}

export function SessionProvider({ environment, children }: { environment: EnvironmentName; children: ReactNode }) {
  const cache = useQueryClient()
  const [end, setEnd] = useState<SessionEnd>()
  const query = useQuery({
    queryKey: ['session', environment],
    queryFn: async () => (await clientOf(environment).auth.session.retrieve()).session,
    staleTime: 60_000,
  })
  const { data: session } = query

  useEffect(() => onSessionEnd(setEnd), [])
  async function signedInAgain(): Promise<void> {
    const { data: now } = await query.refetch()
    if (now === undefined || now === null) return
    // What another user may see is not what is shown.
    if (session !== undefined && session !== null && session.user.userId !== now.user.userId) window.location.reload()
    setEnd(undefined)
    void cache.invalidateQueries()
  }
  const again = useRef(signedInAgain)
  again.current = signedInAgain
  useEffect(() => onOtherTab(() => void again.current()), [])

  if (session === undefined || session === null) {
    if (query.isPending) return <Waiting />
    if (query.error instanceof CountersignError && query.error.status !== 401) {
      return <Failed error={query.error} onRetry={() => void query.refetch()} />
    }
    return <SignInPage />
  }
  if (!session.environments.includes(environment)) {
    return (
      <Center h="100vh" p="md">
        <Alert color="yellow" title="This session reaches sandbox data only">
          The sign-in link was shown on the page and not mailed. <a href="/app/sandbox/overview">Go to the sandbox</a>,
          or sign in with a mailed link.
        </Alert>
      </Center>
    )
  }
  const permissions: readonly string[] = session.permissions[environment]
  const signed: Signed = { session, environment, may: (permission) => permissions.includes(permission) }
  return (
    <Context value={signed}>
      {children}
      <Modal
        opened={end !== undefined}
        onClose={() => setEnd(undefined)}
        withCloseButton={end === 'old'}
        closeOnEscape={false}
        closeOnClickOutside={false}
        title="Sign in again"
        // A form that is open stays below it.
        zIndex={getDefaultZIndex('popover')}
      >
        <Text size="sm" mb="md">
          {end === 'old'
            ? 'This takes a sign-in of the last 10 minutes. The form stays open: confirm it once more afterwards.'
            : 'Your session has ended. What you wrote on this page is kept.'}
        </Text>
        <LinkForm email={session.user.email} onSignedIn={() => void signedInAgain()} />
      </Modal>
    </Context>
  )
}

function Waiting() {
  return (
    <Center h="100vh">
      <Loader role="status" aria-label="Loading" />
    </Center>
  )
}

function SignInPage() {
  // The page of sign-in links leads back here.
  useEffect(() => {
    try {
      const to = `${window.location.pathname}${window.location.search}`.replace(/^\//, '')
      window.localStorage.setItem('countersign.return', JSON.stringify({ at: Date.now(), to }))
    } catch {
      // A browser that keeps nothing.
    }
  }, [])
  return (
    <Center mih="100vh" p="md">
      <Stack maw={420} w="100%">
        <Text component="h1" size="xl" fw={600}>
          Sign in to Countersign
        </Text>
        <LinkForm email="" onSignedIn={() => window.location.reload()} />
      </Stack>
    </Center>
  )
}

/** Asks for a sign-in link. Where the deployment shows its links, the button uses the link at once. */
function LinkForm({ email: known, onSignedIn }: { email: string; onSignedIn(): void }) {
  const [email, setEmail] = useState(known)
  const [said, setSaid] = useState('')
  const [isBusy, setIsBusy] = useState(false)
  const { auth } = clientOf('sandbox')

  async function submit(event: FormEvent) {
    event.preventDefault()
    setIsBusy(true)
    try {
      const { token } = await auth.magicLinks.create({ email })
      if (token === undefined || token === null) {
        setSaid('If the address can sign in here, a link is on its way. It works for 10 minutes.')
        return
      }
      await auth.magicLinks.verify({ token })
      announceSession()
      onSignedIn()
    } catch (error) {
      setSaid(error instanceof CountersignError ? error.detail : 'The service did not answer.')
    } finally {
      setIsBusy(false)
    }
  }
  return (
    <form onSubmit={submit}>
      <Stack>
        <TextInput
          label="E-mail address"
          type="email"
          autoComplete="email"
          required
          maxLength={254}
          value={email}
          onChange={(event) => setEmail(event.currentTarget.value)}
        />
        <Button type="submit" loading={isBusy}>
          Send a sign-in link
        </Button>
        <Text size="sm" role="status" aria-live="polite">
          {said}
        </Text>
      </Stack>
    </form>
  )
}
