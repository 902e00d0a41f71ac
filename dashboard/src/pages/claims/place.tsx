// Where the loss and the capture are: a plan in metres while they are near, the outline of land when they are far apart.

import { Alert, Card, Skeleton, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense } from 'react'
import { useClient, useSession } from '../../app/session.tsx'
import { formatMetres } from '../../parts/measures.ts'
import { type Capture, metresBetween, type Place } from './capture.ts'

// Beyond this a plan of two points says nothing: coasts and countries do.
const FAR_METRES = 200_000
const SIZE = 300
const MARGIN = 34
const METRES_PER_DEGREE = 111_195

const Land = lazy(async () => ({ default: (await import('./land.tsx')).Land }))

export interface Loss {
  place: Place
  /** `claim`: stated first for the claim. `submission`: stated with this capture. */
  statedBy: 'claim' | 'submission'
}

export function Where({ capture, claimLoss }: { capture: Capture; claimLoss: Place | null }) {
  const limitMetres = useLimit()
  const { gps } = capture
  const losses = lossesOf(claimLoss, capture.loss)
  if (gps === undefined || losses.length === 0) {
    const what = [...(gps === undefined ? ['of the capture'] : []), ...(losses.length === 0 ? ['of the loss'] : [])]
    return <Alert color="gray">There is no position {what.join(' and none ')}.</Alert>
  }
  const distances = losses.map((loss) => ({ ...loss, metres: metresBetween(gps, loss.place) }))
  const farthest = Math.max(...distances.map(({ metres }) => metres))
  return (
    <Card withBorder padding="xs" component="figure" m={0}>
      {farthest > FAR_METRES ? (
        <Suspense fallback={<Skeleton height={SIZE} />}>
          <Land gps={gps} losses={losses} size={SIZE} />
        </Suspense>
      ) : (
        <Plan gps={gps} losses={losses} limitMetres={limitMetres} />
      )}
      <figcaption>
        {distances.map(({ statedBy, metres }) => (
          <Text size="sm" key={statedBy}>
            {formatMetres(metres)} from the loss{' '}
            {statedBy === 'claim' ? 'as it was first stated for the claim' : 'as this submission states it'}
          </Text>
        ))}
        <Text size="xs" c="dimmed">
          Accuracy {formatMetres(gps.accuracyMetres)}
          {gps.isMock ? ', and the device says that the position is simulated' : ''}.{' '}
          {limitMetres === undefined ? '' : `The risk policy allows ${formatMetres(limitMetres)}.`}
        </Text>
      </figcaption>
    </Card>
  )
}

/** The limit of the current risk policy; undefined for those who may not read it. */
function useLimit(): number | undefined {
  const client = useClient()
  const { environment, may } = useSession()
  const { data } = useQuery({
    queryKey: ['risk-policy', environment],
    queryFn: ({ signal }) => client.account.riskPolicy.retrieve({ signal }),
    enabled: may('policy.read'),
    staleTime: 5 * 60_000,
  })
  return data?.document.geofence_m
}

function lossesOf(ofClaim: Place | null, ofSubmission: Place | undefined): Loss[] {
  const isSame = ofSubmission?.lat === ofClaim?.lat && ofSubmission?.lng === ofClaim?.lng
  return [
    ...(ofClaim === null ? [] : [{ place: ofClaim, statedBy: 'claim' as const }]),
    ...(ofSubmission === undefined || (ofClaim !== null && isSame)
      ? []
      : [{ place: ofSubmission, statedBy: 'submission' as const }]),
  ]
}

interface PlanProps {
  gps: NonNullable<Capture['gps']>
  losses: readonly Loss[]
  limitMetres: number | undefined
}

/** Metres east and north of the first place of loss: an error of a few percent at the distance beyond which land is shown. */
function Plan({ gps, losses, limitMetres }: PlanProps) {
  const [first] = losses
  if (first === undefined) return null
  const center = first.place
  const flat = ({ lat, lng }: Place) => {
    // Across the 180th meridian the short way.
    const east = ((((lng - center.lng + 540) % 360) + 360) % 360) - 180
    const shrink = Math.cos((center.lat * Math.PI) / 180)
    return { x: east * METRES_PER_DEGREE * shrink, y: (lat - center.lat) * METRES_PER_DEGREE }
  }
  const capture = flat(gps)
  const points = [capture, ...losses.map(({ place }) => flat(place))]
  const distance = Math.max(...points.map(({ x, y }) => Math.hypot(x, y)), 1)
  // A limit much wider than the distance would shrink the points to one.
  const reach = Math.max(
    distance,
    gps.accuracyMetres,
    limitMetres !== undefined && limitMetres < distance * 20 ? limitMetres : 0,
  )
  const scale = (SIZE / 2 - MARGIN) / reach
  const at = ({ x, y }: { x: number; y: number }) => ({ cx: SIZE / 2 + x * scale, cy: SIZE / 2 - y * scale })
  const capturePoint = at(capture)
  const bar = niceLength(reach)
  return (
    <svg
      viewBox={`0 0 ${SIZE} ${SIZE}`}
      width="100%"
      style={{ maxHeight: SIZE, display: 'block' }}
      role="img"
      aria-label="Plan of the loss and the capture, in metres"
    >
      {limitMetres !== undefined && limitMetres * scale < SIZE && (
        <circle
          cx={SIZE / 2}
          cy={SIZE / 2}
          r={limitMetres * scale}
          fill="none"
          stroke="var(--mantine-color-dimmed)"
          strokeDasharray="5 4"
        />
      )}
      <circle
        {...capturePoint}
        r={Math.max(gps.accuracyMetres * scale, 1)}
        fill="var(--mantine-primary-color-filled)"
        fillOpacity={0.18}
      />
      {losses.map(({ place, statedBy }) => {
        const { cx, cy } = at(flat(place))
        return (
          <g key={statedBy}>
            <line
              x1={cx}
              y1={cy}
              x2={capturePoint.cx}
              y2={capturePoint.cy}
              stroke="var(--mantine-color-dimmed)"
              strokeWidth={1}
            />
            <rect x={cx - 5} y={cy - 5} width={10} height={10} fill="var(--mantine-color-red-filled)" />
            <Label
              x={cx}
              y={cy + 18}
              text={statedBy === 'claim' || losses.length === 1 ? 'loss' : 'loss, as submitted'}
            />
          </g>
        )
      })}
      <circle {...capturePoint} r={5} fill="var(--mantine-primary-color-filled)" />
      <Label x={capturePoint.cx} y={capturePoint.cy - 10} text="capture" />
      <g transform={`translate(12, ${SIZE - 12})`}>
        <line x2={bar * scale} stroke="var(--mantine-color-text)" strokeWidth={2} />
        <text y={-5} fontSize={11} fill="var(--mantine-color-text)">
          {formatMetres(bar)}
        </text>
      </g>
      <text x={SIZE - 16} y={18} fontSize={11} textAnchor="middle" fill="var(--mantine-color-text)">
        N ↑
      </text>
    </svg>
  )
}

export function Label({ x, y, text }: { x: number; y: number; text: string }) {
  return (
    <text
      x={Math.min(Math.max(x, 30), SIZE - 30)}
      y={y}
      fontSize={11}
      textAnchor="middle"
      fill="var(--mantine-color-text)"
      stroke="var(--mantine-color-body)"
      strokeWidth={3}
      paintOrder="stroke"
    >
      {text}
    </text>
  )
}

/** A length of 1, 2 or 5 and zeros, below the half of what is shown. */
function niceLength(metres: number): number {
  const power = 10 ** Math.floor(Math.log10(metres))
  const lead = metres / power
  return (lead >= 5 ? 5 : lead >= 2 ? 2 : 1) * (power || 1)
}
