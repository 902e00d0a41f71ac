// The outline of land around two places that are far apart. Loaded only then: with the projection it has 28 kB in Brotli.

import { geoAzimuthalEquidistant, geoCentroid, geoDistance, geoPath } from 'd3-geo'
import { useMemo } from 'react'
import { feature } from 'topojson-client'
import type { GeometryCollection, Topology } from 'topojson-specification'
import atlas from 'world-atlas/land-110m.json'
import type { Place } from './capture.ts'
import { Label, type Loss } from './place.tsx'

interface LandProps {
  gps: Place
  losses: readonly Loss[]
  size: number
}

// How much wider than the distance the section is.
const ROOM = 2.6
// The outline is drawn for maps of the world: closer than 800 km it has no shapes.
const MIN_RADIUS = 0.125
const MAX_RADIUS = Math.PI * 0.98
// The card is wider than the map, and what lies beyond its sides is drawn too.
const CLIP = 3

const topology = atlas as unknown as Topology<{ land: GeometryCollection }>
const land = feature(topology, topology.objects.land)

/** Distances from the middle are true in this projection, and so are directions. */
export function Land({ gps, losses, size }: LandProps) {
  const { outline, grid, spots } = useMemo(() => {
    const points: [number, number][] = [gps, ...losses.map(({ place }) => place)].map(({ lat, lng }) => [lng, lat])
    const middle = geoCentroid({ type: 'MultiPoint', coordinates: points })
    const farthest = Math.max(...points.map((point) => geoDistance(middle, point)))
    const radius = Math.min(Math.max(farthest * ROOM, MIN_RADIUS), MAX_RADIUS)
    const projection = geoAzimuthalEquidistant()
      .rotate([-middle[0], -middle[1]])
      .scale(size / 2 / radius)
      .translate([size / 2, size / 2])
      .clipAngle(Math.min((radius * CLIP * 180) / Math.PI, 179))
      .precision(0.3)
    const path = geoPath(projection)
    return {
      outline: path(land) ?? '',
      grid: path({ type: 'LineString', coordinates: points.slice(0, 2) }) ?? '',
      spots: points.map((point) => projection(point) ?? [0, 0]),
    }
  }, [gps, losses, size])
  const [capture, ...places] = spots
  return (
    <svg
      viewBox={`0 0 ${size} ${size}`}
      width="100%"
      style={{ maxHeight: size, display: 'block', background: 'var(--mantine-color-default-hover)' }}
      role="img"
      aria-label="The loss and the capture on an outline of land"
    >
      <path d={outline} fill="var(--mantine-color-body)" stroke="var(--mantine-color-dimmed)" strokeWidth={0.7} />
      <path d={grid} fill="none" stroke="var(--mantine-color-text)" strokeDasharray="4 3" />
      {places.map(([x = 0, y = 0], index) => (
        <g key={losses[index]?.statedBy}>
          <rect x={x - 5} y={y - 5} width={10} height={10} fill="var(--mantine-color-red-filled)" />
          <Label x={x} y={y + 18} text="loss" />
        </g>
      ))}
      {capture !== undefined && (
        <>
          <circle cx={capture[0]} cy={capture[1]} r={5} fill="var(--mantine-primary-color-filled)" />
          <Label x={capture[0] ?? 0} y={(capture[1] ?? 0) - 10} text="capture" />
        </>
      )}
    </svg>
  )
}
