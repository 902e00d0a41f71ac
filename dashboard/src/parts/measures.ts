// Numbers with their units, by the reader's locale.

const NUMBER = new Intl.NumberFormat()
const PERCENT = new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 1 })

const unit = (name: string, digits: number) =>
  new Intl.NumberFormat(undefined, { style: 'unit', unit: name, maximumFractionDigits: digits })

const METRES = unit('meter', 0)
const SHORT_METRES = unit('meter', 1)
const KILOMETRES = unit('kilometer', 1)
const SECONDS = unit('second', 1)
const MINUTES = unit('minute', 0)
const HOURS = unit('hour', 1)
const DAYS = unit('day', 1)

export function formatNumber(value: number): string {
  return NUMBER.format(value)
}

export function formatPercent(share: number): string {
  return PERCENT.format(share)
}

export function formatMetres(metres: number): string {
  if (Math.abs(metres) >= 1_000) return KILOMETRES.format(metres / 1_000)
  return (Math.abs(metres) < 10 ? SHORT_METRES : METRES).format(metres)
}

const SIZES = ['byte', 'kilobyte', 'megabyte', 'gigabyte'] as const

export function formatBytes(bytes: number): string {
  const step = bytes < 1_000 ? 0 : Math.min(SIZES.length - 1, Math.floor(Math.log10(bytes) / 3))
  return unit(SIZES[step] ?? 'byte', step === 0 ? 0 : 1).format(bytes / 1_000 ** step)
}

export function formatSeconds(seconds: number): string {
  if (Math.abs(seconds) < 90) return SECONDS.format(seconds)
  if (Math.abs(seconds) < 5_400) return MINUTES.format(seconds / 60)
  return Math.abs(seconds) < 172_800 ? HOURS.format(seconds / 3_600) : DAYS.format(seconds / 86_400)
}

export function formatTime(at: string | Date): string {
  return new Date(at).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'medium' })
}
