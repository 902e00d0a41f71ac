// `/login/link`: where the link of a mail leads, and where a person asks for one. Opening it uses nothing up: scanners of mail open links
// too.

import type { Session } from '@countersign/client'
import { Anchor, Button, Group, Stack, Text, TextInput } from '@mantine/core'
import { type FormEvent, useEffect, useState } from 'react'
import { announceSession } from '../app/session-end.ts'
import { detailOf, isRefusedAt, readSession, visitor } from './ask.ts'
import { Frame, type LinkSecret, takeToken } from './entry.tsx'

type Step =
  | { name: 'reading' }
  | { name: 'request' }
  /** The link of a mail, or one that the service shows instead of mailing it alone. */
  | { name: 'confirm'; secret: LinkSecret; isShown: boolean }
  | { name: 'sent' }
  | { name: 'signed in'; session: Session }

const given = takeToken()

export default function SignIn() {
  const [step, setStep] = useState<Step>(
    given.token === undefined ? { name: 'reading' } : { name: 'confirm', secret: given, isShown: false },
  )
  const [message, setMessage] = useState('')
  const [isBusy, setIsBusy] = useState(false)
  const [back] = useState(readReturn)
  const go = (next: Step, said = '') => {
    setStep(next)
    setMessage(said)
  }

  useEffect(() => {
    if (given.token !== undefined) return
    void readSession().then((session) =>
      setStep(session === undefined ? { name: 'request' } : { name: 'signed in', session }),
    )
  }, [])

  async function busy(work: () => Promise<void>): Promise<void> {
    setIsBusy(true)
    await work()
    setIsBusy(false)
  }

  const request = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const email = String(new FormData(event.currentTarget).get('email'))
    return busy(async () => {
      try {
        const { token } = await visitor.auth.magicLinks.create({ email })
        if (token === undefined || token === null) {
          go({ name: 'sent' }, 'If the address can sign in here, a link is on its way. It works for 10 minutes.')
        } else {
          go({ name: 'confirm', secret: { token, isOnward: false }, isShown: true })
        }
      } catch (error) {
        go({ name: 'request' }, detailOf(error))
      }
    })
  }

  const use = ({ token = '', isOnward }: LinkSecret) =>
    busy(async () => {
      try {
        const session = await visitor.auth.magicLinks.verify({ token })
        announceSession()
        if (isOnward) window.location.assign('/app/sandbox/overview')
        go({ name: 'signed in', session }, sentenceOf(session))
      } catch (error) {
        const isSpent = isRefusedAt(error, '/token')
        go({ name: 'request' }, isSpent ? 'This link does not work any more. Ask for another one.' : detailOf(error))
      }
    })

  const leave = () =>
    busy(async () => {
      try {
        await visitor.auth.session.delete()
        announceSession()
        go({ name: 'request' }, 'You are signed out.')
      } catch (error) {
        setMessage(detailOf(error))
      }
    })

  const shown = step.name === 'signed in' && message === '' ? sentenceOf(step.session) : message
  return (
    <Frame title="Sign in" message={shown}>
      {step.name === 'confirm' && (
        <Stack gap="sm">
          <Text size="sm">
            {step.isShown
              ? 'This service shows its links instead of mailing them alone. A session from such a link reaches sandbox data only.'
              : 'The link signs you in on this device, once.'}
          </Text>
          <Button loading={isBusy} onClick={() => void use(step.secret)}>
            {step.isShown ? 'Sign in with the link' : 'Sign in'}
          </Button>
        </Stack>
      )}
      {step.name === 'request' && (
        <form onSubmit={(event) => void request(event)}>
          <Stack gap="sm">
            <TextInput
              label="Your e-mail address"
              name="email"
              type="email"
              autoComplete="email"
              maxLength={254}
              required
            />
            <Button type="submit" loading={isBusy}>
              Mail me a link
            </Button>
          </Stack>
        </form>
      )}
      {step.name === 'signed in' && (
        <Stack gap="sm">
          <Button component="a" href={`/${back ?? 'app'}`}>
            {back === undefined ? 'Open the dashboard' : 'Back to the dashboard'}
          </Button>
          <Group>
            <Button variant="default" loading={isBusy} onClick={() => void leave()}>
              Sign out
            </Button>
            <Anchor href="/passkeys">Your passkeys</Anchor>
            <Anchor href="/approve">Approvals</Anchor>
          </Group>
        </Stack>
      )}
      {step.name !== 'signed in' && <Anchor href="/login/sso">Sign in with your organization</Anchor>}
    </Frame>
  )
}

function sentenceOf({ user, account, role }: Session): string {
  return `You are signed in as ${user.email}, ${role} of ${account.name}.`
}

const PAGE = /^app\/(?:sandbox|live)(?:\/[A-Za-z0-9_-]+)*(?:\?[^#]{0,2000})?$/
const KEPT_MS = 3_600_000

/** The page that a person wanted to see before signing in, perhaps in another tab. To nowhere else: it has the form of our addresses. */
function readReturn(): string | undefined {
  try {
    const { at, to } = JSON.parse(window.localStorage.getItem('countersign.return') ?? '{}')
    if (Date.now() - at < KEPT_MS && PAGE.test(to)) return to
  } catch {
    // A browser that keeps nothing.
  }
  return undefined
}
