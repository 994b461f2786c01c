"""The lab page: drives on a bench, their knobs, and the curve that answers. It holds no model: whatever it shows comes
from `pslc.run`, the findings and the pictures that reports have.

knobs         keys of a profile that can be turned, and the values each can take
bench         what is on the page, and the address that says all of it
runs          recordings by suite and target: live where they are quick, else as jobs that can be stopped
answer        what recordings say, as the page draws it
inside        what a simulated drive held at each moment of a write
overlay       what is laid over the curve
replays       traces on the bench
dropped, fits what somebody brings, and twins of it
recordings    what is in runs/
layout, app   the page, and what happens when something is turned
sections, brought   the same below the bench
server        who may see it
"""
