/** One stroke of a pen that writes something like a name. */
const stroke = `
  M92 30C74 18 50 46 58 68 66 90 100 72 110 54 116 42 128 44 124 58 120 72 134 74 142 60 148 49 156 48 154 60
  152 72 160 74 168 62 176 48 178 44 178 60 178 74 188 60 196 52 200 48 204 52 202 60 200 70 208 72 216 62
  232 40 246 6 236 8 226 10 220 72 234 72 246 72 250 50 260 50 270 50 262 72 274 70 290 66 292 46 302 50
  310 54 296 74 308 72 330 68 350 46 400 40`

/** A hand that signs on the line, once. */
export function Flourish() {
  return (
    <svg class="flourish" viewBox="0 0 420 110" aria-hidden="true">
      <path class="flourish-line" d="M1 88H419" />
      <path class="flourish-cross" d="M3 66L17 80M17 66L3 80" />
      <path class="flourish-pen" pathLength="1" d={stroke} />
    </svg>
  )
}
