import { guardEgress } from '#platform/egress.ts'

guardEgress()
