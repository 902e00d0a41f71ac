// `/login/sso`: begins single sign-on, and finishes it where the identity provider leads back. Code and state leave the address at once:
// they must neither stay in the history nor get into a Referer.

import type { Session } from '@countersign/client'
import { Anchor, Button, Stack, Text, TextInput } from '@mantine/core'
import { type FormEvent, useEffect, useState } from 'react'
import { announceSession } from '../app/session-end.ts'
import { askSingleSignOn, type Refusal, readSession } from './ask.ts'
import { Frame } from './entry.tsx'

const search = new URLSearchParams(window.location.search)
window.history.replaceState(null, '', window.location.pathname)
const [code, state, iss, refusal] = ['code', 'state', 'iss', 'error'].map((name) => search.get(name) ?? undefined)
const isReturn = code !== undefined || refusal !== undefined

// Why the identity provider itself refuses (OpenID Connect 3.1.2.6, RFC 6749 4.1.2.1).
const REFUSALS: Record<string, string> = {
  access_denied: 'Your identity provider did not let you in: ask its administrator for access to this service.',
  login_required: 'Your identity provider wants you to sign in there first.',
  interaction_required: 'Your identity provider wants you to sign in there first.',
  consent_required: 'Your identity provider wants your consent, or that of its administrator.',
  temporarily_unavailable: 'Your identity provider is not available. Try again later.',
}
// What people can do about a refusal of this service, by its cause.
const ADVICE: Record<string, string> = {
  client_refused: 'The administrator has to renew the client secret.',
  code_refused: 'Begin again.',
  token_expired: 'Begin again. If it persists, the clock of the identity provider is wrong.',
  issued_at_out_of_bounds: 'If it persists, the clock of the identity provider is wrong.',
  email_missing: 'The administrator has to let the identity provider send the e-mail address.',
  email_unverified: 'Verify your address at the identity provider.',
  domain_mismatch: 'Use the account of your organization.',
  user_removed: 'Ask an administrator of your organization.',
  owner_not_linked: 'Sign in with a mailed link, then open this page again.',
  session_mismatch: 'Sign in again, and link your user again.',
  timeout: 'Try again later.',
  unreachable: 'Try again later.',
}
const OVER = 'This login is over: it was used, is too old, or began in another browser.'

interface Led {
  authorize_url: string
}
type SignedIn = Pick<Session, 'user' | 'account' | 'role'>

// A code works once: it is sent when the page opens, and not again when it is drawn again.
const finished = code === undefined ? undefined : askSingleSignOn<SignedIn>('callback', { sent: { code, state, iss } })

export default function SingleSignOn() {
  const [step, setStep] = useState<'waiting' | 'begin' | 'link' | 'signed in'>('waiting')
  const [message, setMessage] = useState(code === undefined ? '' : 'One moment …')

  useEffect(() => {
    if (finished !== undefined) {
      void finished.then((outcome) => {
        if ('answer' in outcome) {
          const { user, role, account } = outcome.answer
          announceSession()
          setStep('signed in')
          setMessage(`You are signed in as ${user.email}, ${role} of ${account.name}.`)
          return
        }
        setStep('begin')
        setMessage(outcome.refusal.errors?.[0]?.pointer === '/state' ? OVER : wordsOf(outcome.refusal))
      })
    } else if (refusal !== undefined) {
      setStep('begin')
      setMessage(REFUSALS[refusal] ?? 'Your identity provider did not sign you in.')
    } else {
      void readSession().then((session) => setStep(session === undefined ? 'begin' : 'link'))
    }
  }, [])

  const lead = (outcome: Awaited<ReturnType<typeof askSingleSignOn<Led>>>) => {
    if ('answer' in outcome) window.location.assign(outcome.answer.authorize_url)
    else setMessage(wordsOf(outcome.refusal))
  }
  const begin = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const given = String(new FormData(event.currentTarget).get('domain')).trim()
    const domain = given.slice(given.lastIndexOf('@') + 1)
    lead(await askSingleSignOn<Led>(`start?${new URLSearchParams({ domain })}`, { method: 'GET' }))
  }
  const link = async () => lead(await askSingleSignOn<Led>('link'))

  return (
    <Frame title="Sign in with your organization" message={message}>
      {step === 'begin' && (
        <form onSubmit={(event) => void begin(event)}>
          <Stack gap="sm">
            <TextInput
              label="Your e-mail address, or its domain"
              name="domain"
              autoComplete="email"
              maxLength={254}
              required
            />
            <Button type="submit">Go on</Button>
          </Stack>
        </form>
      )}
      {step === 'link' && (
        <Stack gap="sm">
          <Text size="sm">
            You are signed in. With this button your user is linked to the identity provider of your organization: you
            sign in there first.
          </Text>
          <Button onClick={() => void link()}>Link my user</Button>
        </Stack>
      )}
      {step === 'signed in' && (
        <Button component="a" href="/app">
          Open the dashboard
        </Button>
      )}
      {(step !== 'begin' || isReturn) && <Anchor href="/login/link">Sign in or out</Anchor>}
    </Frame>
  )
}

function wordsOf({ detail, cause = '' }: Refusal): string {
  return ADVICE[cause] === undefined ? detail : `${detail} ${ADVICE[cause]}`
}
