// The mail that asks a person to decide. It says where, and contains no text of the agent, which could put any words
// into our mail. The action itself is shown after signing in.

import type { Letter } from '#src/account/mail/letter.ts'
import type { Environment } from '#src/platform/ids.ts'
import { approveUrl } from './open.ts'
import type { ShownApproval } from './rows.ts'

export function letterOf(row: ShownApproval, environment: Environment, baseUrl: string): Letter {
  const rules = row.rules.map(({ rule_id }) => rule_id)
  const people = row.minApprovals === 1 ? 'one person' : `${row.minApprovals} people`
  return {
    subject: `An action waits for your approval (${environment})`,
    paragraphs: [
      `An agent asks to act in the ${environment} environment, and the policy wants the approval of ${people}.`,
      `${rules.length === 1 ? 'Rule' : 'Rules'}: ${rules.slice(0, 10).join(', ')}. ${row.agentId === null ? '' : `Agent: ${row.agentId}. `}Approval: ${row.id}.`,
      `Without a decision it expires on ${timeOf(row.expiresAt)}, and the action does not run.`,
    ],
    action: { label: 'See the action and decide', url: approveUrl(baseUrl, row.id) },
    notes: [
      'The page shows the whole action after you have signed in. Approve only what you have read.',
      'You get this mail because your role lets you decide approvals of the account.',
    ],
  }
}

function timeOf(at: Date): string {
  const [day, time = ''] = at.toISOString().split('T')
  return `${day} at ${time.slice(0, 5)} UTC`
}
