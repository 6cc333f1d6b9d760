import { isolate } from '@countersign/protocol/formats/registries/languages'
import type { adminGroupsMessages as english } from '../../../en/pages/admin/groups.ts'
import { numberOf } from '../../format.ts'

/** Holds the messages about groups, for operators. In Arabic. */
export const adminGroupsMessages: typeof english = {
  title: 'المجموعات',
  lead: 'تحدّد المجموعات من يمكنه استخدام تطبيق. تراها التطبيقات في المطالبة groups.',
  back: 'كل المجموعات',
  add: 'مجموعة جديدة',
  create: 'إنشاء المجموعة',
  none: 'لا مجموعات بعد',
  example: 'مثال: مجموعة مفتاحها eng. التطبيقات المقيّدة بها متاحة لأعضائها وحدهم.',
  key: 'المفتاح',
  keyHint: 'اسمها في المطالبات، ولا يتغيّر أبدًا.',
  keyProblem: `استخدم أحرفًا لاتينية صغيرة وأرقامًا والمحارف ${isolate('. _ : / -')}، وابدأ بحرف أو رقم.`,
  name: 'الاسم',
  nameHint: 'يراه المشغّلون.',
  description: 'الوصف',
  descriptionHint: 'اختياري: الغرض منها.',
  protected: { label: 'محمية', about: 'لا يغيّرها ولا يغيّر أعضاءها إلا المالكون.' },
  edit: {
    open: 'تعديل…',
    title: (name) => `تعديل ${name}`,
    nameProblem: `استخدم سطرًا واحدًا لا يزيد على ${numberOf(80)} حرفًا.`,
    protection: 'الحماية',
    save: 'حفظ',
    saved: 'حُفظت المجموعة.',
  },
  members: 'الأعضاء',
  noMembers: 'لا أعضاء بعد',
  fromProvider: 'يحددهم مزوّد الهوية لمؤسسة عند تسجيل دخولهم.',
  fromDirectory: 'يحددهم دليل عبر SCIM.',
  addMember: 'إضافة عضو',
  memberMissing: 'أدخل اسم مستخدم أو معرّفًا.',
  added: 'أُضيف العضو.',
  remove: 'إزالة',
  removeTitle: (name) => `إزالة ${name}`,
  removeWhat: 'ينتهي الوصول إلى التطبيقات المتاحة لهذه المجموعة وحدها، ويظهر ذلك في نشاط صاحب الهوية.',
  removed: (name) => `أُزيلت هوية ${name}.`,
  delete: {
    what: 'التطبيقات المتاحة لهذه المجموعة وحدها تُغلق عندئذ أمام الجميع.',
    open: 'حذف المجموعة…',
    title: (name) => `حذف ${name}`,
    now: 'حذف المجموعة',
    done: (name) => `حُذفت المجموعة ${name}.`,
  },
}
