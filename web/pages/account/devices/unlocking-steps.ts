import type { Agreement } from '@countersign/keys/device-approval'
import type { PendingDeviceApproval } from '@countersign/protocol/accounts/device-approvals'
import { pageLimits } from '@countersign/protocol/formats/registries/page-limits'

/**
 * The reason of a failure. `altered`: the messages between the two devices were altered, so they do not trust each
 * other.
 */
export type Failure = 'gone' | 'altered' | 'wrong digits'

/** The steps of a device approval. */
export type Step =
  | { at: 'rest' }
  | { at: 'agree'; device: PendingDeviceApproval }
  | { at: 'compare'; device: PendingDeviceApproval; agreement: Agreement; triesLeft: number }
  | { at: 'sent'; device: PendingDeviceApproval; confirmation: string }
  | { at: 'end'; device: PendingDeviceApproval; end: Failure }

export type Event =
  | { type: 'approved'; device: PendingDeviceApproval }
  | { type: 'agreed'; agreement: Agreement }
  | { type: 'wrong digits' }
  | { type: 'sent' }
  | { type: 'ended'; end: Failure }
  | { type: 'left' }

/**
 * Returns the step after an event. An event that does not belong to the step, such as a late response, changes nothing.
 */
export function nextStep(step: Step, event: Event): Step {
  switch (event.type) {
    case 'approved':
      return step.at === 'rest' ? { at: 'agree', device: event.device } : step
    case 'agreed': {
      if (step.at !== 'agree') return step
      return {
        at: 'compare',
        device: step.device,
        agreement: event.agreement,
        triesLeft: pageLimits.deviceApprovalTriesMax,
      }
    }
    case 'wrong digits': {
      if (step.at !== 'compare') return step
      const triesLeft = step.triesLeft - 1
      return triesLeft > 0 ? { ...step, triesLeft } : { at: 'end', device: step.device, end: 'wrong digits' }
    }
    case 'sent': {
      if (step.at !== 'compare') return step
      return { at: 'sent', device: step.device, confirmation: step.agreement.confirmation }
    }
    case 'ended':
      return step.at === 'agree' || step.at === 'compare' ? { at: 'end', device: step.device, end: event.end } : step
    case 'left':
      return { at: 'rest' }
  }
}
