// Revokes a token, an agent session or a device. What is named says which it is: a token by its id, else the person chooses.

import { Act } from '../../parts/act.tsx'
import { Consequence } from '../../parts/consequence.tsx'

const SCOPES = [
  { scope: 'token', title: 'Revoke a token', field: 'Id of the token', follows: 'The token ends.' },
  {
    scope: 'session',
    title: 'Revoke a session',
    field: 'Agent session',
    follows: 'All its tokens end, and it never gets new ones.',
  },
  {
    scope: 'device',
    title: 'Revoke a device',
    field: 'Device',
    follows: 'All its tokens end, and it never gets new ones.',
  },
] as const

const MEMBERS = { token: 'jti', session: 'agentSessionId', device: 'deviceId' } as const

export function Revoke() {
  return SCOPES.map(({ scope, title, field, follows }) => (
    <Act
      key={scope}
      title={title}
      permission="intents.write"
      name={`revocations.${scope}`}
      isDangerous
      fields={[
        { name: 'subject', title: field, isRequired: true, maxLength: 200 },
        { name: 'reason', title: 'Reason', isRequired: true, maxLength: 500 },
      ]}
      review={({ subject = '', reason }) => (
        <Consequence title={`${subject} is revoked`} reason={reason}>
          {follows} It holds from the next verification on, and approvals that wait for its actions are cancelled.
        </Consequence>
      )}
      send={(client, { subject = '', reason = '' }, options) =>
        client.intent.revocations.create({ scope, [MEMBERS[scope]]: subject, reason }, options)
      }
    />
  ))
}
