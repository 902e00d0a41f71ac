// Signs the person who asks in at the provider, which links their user to it. A cookie of this browser belongs to it, so no
// library has a method for it.

import { CountersignError, type Problem, type SsoConfig } from '@countersign/client'
import { Anchor, Stack, Text } from '@mantine/core'
import { useSession } from '../../app/session.tsx'
import { Act } from '../../parts/act.tsx'

export function TestSignIn({ config }: { config: SsoConfig }) {
  const { session } = useSession()
  return (
    <Act
      title="Test the sign-in"
      permission="session.own"
      name="sso.test"
      about={`You sign in at ${config.issuer} as ${session.user.email}, and your user is linked to it. The session of this browser stays.`}
      send={(_, _values, { idempotencyKey }) => begin(session.csrfToken, idempotencyKey)}
      result={({ authorizeUrl }) => (
        <Stack gap="xs">
          <Anchor href={authorizeUrl} target="_blank" rel="noreferrer">
            Sign in at the provider
          </Anchor>
          <Text size="sm">
            It opens in another tab, and says there what came of it. This page shows a success by itself.
          </Text>
        </Stack>
      )}
    />
  )
}

/** @throws {CountersignError} */
async function begin(csrfToken: string, idempotencyKey: string): Promise<{ authorizeUrl: string }> {
  const answer = await fetch('/v1/auth/sso/link', {
    method: 'POST',
    headers: { 'X-CSRF-Token': csrfToken, 'Idempotency-Key': idempotencyKey },
  })
  const body = (await answer.json()) as { authorize_url?: string } & Problem
  if (!answer.ok || body.authorize_url === undefined) throw new CountersignError(answer.status, body)
  return { authorizeUrl: body.authorize_url }
}
