"""The simple language: texts and conditions with functions in them, as far as this engine knows them.

Source of the rules: Apache Camel 4.18, Simple language. What Camel would read otherwise than as plain text and is
not known here is refused, so that a text never means two things.
"""

from penstock.flow.simple.predicate import SimplePredicate as SimplePredicate
from penstock.flow.simple.template import DynamicText as DynamicText
from penstock.flow.simple.template import SimpleTemplate as SimpleTemplate
