import type { adminGroupsMessages as english } from '../../../en/pages/admin/groups.ts'

/** Holds the messages about groups, for operators. In Arabic. */
export const adminGroupsMessages: typeof english = {
  title: 'المجموعات',
  lead: 'تحدّد المجموعات من يستخدم تطبيقًا، وتعرفها التطبيقات من المطالبة groups.',
  back: 'كل المجموعات',
  add: 'مجموعة جديدة',
  create: 'إنشاء المجموعة',
  none: 'لا مجموعات بعد',
  example: 'مثال: مجموعة مفتاحها eng. التطبيق الذي يسمّيها متاح لأعضائها وحدهم.',
  key: 'المفتاح',
  keyHint: 'اسمها في المطالبات، ولا يتغيّر أبدًا.',
  keyProblem: 'استخدم حروفًا لاتينية صغيرة وأرقامًا و . _ : / -، وابدأ بحرف أو رقم.',
  name: 'الاسم',
  nameHint: 'يراه المشغّلون.',
  members: 'الأعضاء',
  noMembers: 'لا أعضاء بعد',
  addMember: 'إضافة عضو',
  memberMissing: 'أدخل اسم مستخدم أو معرّفًا.',
  added: 'أُضيف العضو.',
  remove: 'إزالة',
  removeTitle: (name) => `إزالة ${name}`,
  removeWhat: 'ينتهي الوصول إلى التطبيقات المتاحة لهذه المجموعة وحدها، ويظهر ذلك في نشاط صاحب الهوية.',
  removed: (name) => `أُزيلت هوية ${name}.`,
  delete: {
    what: 'التطبيق المقيّد الذي لا يسمّي إلا هذه المجموعة يُغلق عندئذ أمام الجميع.',
    open: 'حذف المجموعة…',
    title: (name) => `حذف ${name}`,
    now: 'حذف المجموعة',
    done: (name) => `حُذفت المجموعة ${name}.`,
  },
}
