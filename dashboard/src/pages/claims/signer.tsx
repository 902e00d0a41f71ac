// Who signed: the device as it is enrolled, the certificates that came with the capture, and C2PA credentials of the file.

import type { Device, SubmittedAttestation } from '@countersign/client'
import { Code, Skeleton, Stack, Table, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useClient, useSession } from '../../app/session.tsx'
import { Failed } from '../../parts/failed.tsx'
import { Value, withApiNames } from '../../parts/finding.tsx'
import { formatNumber } from '../../parts/measures.ts'
import { Id, Status, Time } from '../../parts/values.tsx'
import { type Fact, Facts } from '../../recipe/detail-page.tsx'
import { type Capture, recordIn, textIn } from './capture.ts'

export function Signer({ attestation, capture }: { attestation: SubmittedAttestation; capture: Capture }) {
  const client = useClient()
  const { environment, may } = useSession()
  const { deviceId, certificates, hardwareTier } = attestation
  const query = useQuery({
    queryKey: ['detail', 'devices', environment, deviceId],
    queryFn: ({ signal }) => client.devices.retrieve(deviceId ?? '', { signal }),
    enabled: deviceId !== null && may('devices.read'),
  })
  const common: Fact[] = [
    ['Device', <Id key="device" id={deviceId} />],
    ['Key', <Status key="tier" value={hardwareTier} />],
    ['Captured', <Time key="captured" at={capture.capturedAt} />],
    ['Person', capture.biometric === undefined ? 'not confirmed' : `confirmed (${capture.biometric})`],
  ]
  return (
    <Stack gap="xs">
      <Facts facts={[...common, ...(query.data === undefined ? [] : deviceFacts(query.data))]} />
      {query.isLoading && <Skeleton height={120} />}
      {query.isError && <Failed error={query.error} onRetry={() => void query.refetch()} />}
      {certificates.length > 0 && (
        <Table.ScrollContainer minWidth={360} type="native">
          <Table fz="xs" verticalSpacing={3} aria-label="Certificates that came with the capture">
            <Table.Thead>
              <Table.Tr>
                <Table.Th>Certificate</Table.Th>
                <Table.Th>From</Table.Th>
                <Table.Th>Until</Table.Th>
                <Table.Th>Fingerprint</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {certificates.map(({ subject, notBefore, notAfter, fingerprint }) => (
                <Table.Tr key={fingerprint}>
                  <Table.Td style={{ overflowWrap: 'anywhere' }}>{subject}</Table.Td>
                  <Table.Td>
                    <Time at={notBefore} />
                  </Table.Td>
                  <Table.Td>
                    <Time at={notAfter} />
                  </Table.Td>
                  <Table.Td>
                    <Code title={fingerprint}>{fingerprint.slice(0, 12)}…</Code>
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      )}
    </Stack>
  )
}

function deviceFacts(device: Device): Fact[] {
  const { name, status, certificate, enrolledAt, expiresAt, revokedAt, revokeEffectiveAt, revokeReason, hardware } =
    device
  return [
    ['Name', name ?? '–'],
    ['State', <Status key="state" value={status} />],
    ['Certificate', certificate.subject],
    ['Enrolled', <Time key="enrolled" at={enrolledAt} />],
    ['Expires', <Time key="expires" at={expiresAt} />],
    ...(revokedAt === null
      ? []
      : ([
          ['Revoked', <Time key="revoked" at={revokedAt} />],
          ['Revoked from', <Time key="effective" at={revokeEffectiveAt} />],
          ['Why', revokeReason ?? '–'],
        ] as Fact[])),
    ...(hardware === null ? [] : ([['Evidence', <Status key="proven" value={hardware.provenTier} />]] as Fact[])),
  ]
}

const C2PA_CODES = ['c2pa_present_valid', 'c2pa_invalid']

/** What the content credentials say, from the file down to what it was made of. */
export function Credentials({ attestation }: { attestation: SubmittedAttestation }) {
  const finding = attestation.advisoryFactors?.find(({ code }) => C2PA_CODES.includes(code))
  if (finding === undefined) return null
  const evidence = withApiNames(finding.evidence)
  const signer = recordIn(evidence, 'signer')
  const sources = Array.isArray(evidence.digital_source_types) ? evidence.digital_source_types : []
  const of = (manifest: string) => sources.filter((source) => textIn(source, 'manifest') === manifest)
  const ingredients = Number(evidence.ingredients ?? 0)
  return (
    <ul aria-label="Content credentials" style={{ margin: 0, paddingInlineStart: '1.1em', fontSize: '0.875rem' }}>
      <li>
        This file: <Status value={textIn(evidence, 'validation_state') ?? textIn(evidence, 'found')} />
        <ul style={{ paddingInlineStart: '1.1em' }}>
          <li>
            Signed by {textIn(signer, 'common_name') ?? 'nobody who is named'}
            {textIn(signer, 'issuer') === undefined ? '' : `, issued by ${textIn(signer, 'issuer')}`}
            {evidence.trusted === true ? ', in the trust list' : ', not in the trust list'}
          </li>
          {textIn(evidence, 'claim_generator') !== undefined && (
            <li>Made with {textIn(evidence, 'claim_generator')}</li>
          )}
          {of('active').map((source, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: actions have no identity
            <Source key={index} source={source} />
          ))}
          <Failures title="Failures" codes={evidence.codes} />
          {ingredients > 0 && (
            <li>
              Made from {formatNumber(ingredients)} {ingredients === 1 ? 'ingredient' : 'ingredients'}, without
              credentials: {formatNumber(Number(evidence.ingredients_without_manifest ?? 0))}
              <ul style={{ paddingInlineStart: '1.1em' }}>
                {of('ingredient').map((source, index) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: actions have no identity
                  <Source key={index} source={source} />
                ))}
                <Failures title="Failures of ingredients" codes={evidence.ingredient_codes} />
              </ul>
            </li>
          )}
        </ul>
      </li>
    </ul>
  )
}

function Source({ source }: { source: unknown }) {
  return (
    <li>
      {textIn(source, 'action') ?? 'Metadata'}: {textIn(source, 'type')}{' '}
      <Text span size="sm" c="dimmed">
        {textIn(source, 'kind')?.replaceAll('_', ' ')}
      </Text>
    </li>
  )
}

function Failures({ title, codes }: { title: string; codes: unknown }) {
  if (!Array.isArray(codes) || codes.length === 0) return null
  return (
    <li>
      {title}: <Value value={codes} />
    </li>
  )
}
